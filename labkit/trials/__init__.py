"""Trials: methods x settings x seeds on one corpus, and their evaluation.

bench      find the best method for your data: the doctor, the plan, the search, the test, the report
doctor     checks of the data before anything is trained on it
plan       what each method costs, and what fits into the time limit
engine     a trial is a training run with its scores; its result is one small file, computed once
space      the search space of a method's settings, and the next proposal
tune       the settings of one method that are best on dev
metrics    the metrics of a comparison; verdict: leads, tie or open; mistakes: where a method makes mistakes
report     the page and the table
"""
