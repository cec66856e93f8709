"""The training loop of every method that learns by gradient descent.

task (module, batches, loss) -> loop: epochs, clipping, early stopping, snapshots -> history, the best weights
                                 |
                 checkpoints to resume from · several processes · any device
"""

from labkit.training.loop import EncoderTraining, Task, Training, train

__all__ = ["EncoderTraining", "Task", "Training", "train"]
