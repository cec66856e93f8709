"""Trainings in a line, for the app, and for anybody who wants a few trainings made one after the other.

queue     orders, records and the line itself      choices   a method's settings -> what to offer of them
process   one training in a process of its own: starts, stops and listens to it, and what runs there
"""

from trainings.choices import Choice, choices
from trainings.queue import BENCH, ENDED, MINUTES, Job, Observed, Order, Queue, queue_of, report_of, watch

__all__ = [
    "BENCH",
    "ENDED",
    "MINUTES",
    "Choice",
    "Job",
    "Observed",
    "Order",
    "Queue",
    "choices",
    "queue_of",
    "report_of",
    "watch",
]
