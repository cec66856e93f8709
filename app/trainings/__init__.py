"""Trainings in a line: one runs in a process of its own, the others wait for their turn. For the app, and for anybody
who wants a few trainings done one after the other.

    order      what is wished for -> the words of `labkit train`      choices   a method's settings -> what to offer
    record     what is known of a training, a file each               queue     submit, stop, resume, one at a time
    process    starts, stops and listens to one training              worker    what runs in that process
    watching   how far a training is: its figures, the time left      outcome   what has become of it
    sharing    the one queue of an app
"""

from trainings.offer import Choice, Watched, choices, clock, watch
from trainings.queue import ENDED, Job, Order, Queue, shared

__all__ = ["ENDED", "Choice", "Job", "Order", "Queue", "Watched", "choices", "clock", "shared", "watch"]
