"""Training: one loop for every method that learns by gradient.

task (module, batches, loss) -> loop: epochs, clipping, early stopping, snapshots -> history, the best weights
                                 |
                 checkpoints to go on from · several processes · any device
"""

from labkit.training.loop import EncoderTraining, Task, Training, train

__all__ = ["EncoderTraining", "Task", "Training", "train"]
