"""The notebooks are made, not written: one source each, from it the student's notebook and the solved one.

notebooks/src/01_*.py -> notebooks/01_*.ipynb              exercises open, no outputs
                      -> notebooks/solutions/01_*.ipynb    solved and run, with outputs

python -m labkit.lab.course.notebooks [01 ...]          makes them (`make notebooks`)
python -m labkit.lab.course.plans [NAME ...] measures the ablations whose tables the notebooks show
"""
