"""Trials: methods x settings x seeds on one corpus, and conclusions from them.

bench      which method for my data: the doctor, the plan, the search, the test, the report
doctor     checks of the data before anything is trained on it
engine     a trial is a training and its scores; its result is one small file, computed once
space      what is tried of a method's settings, and the next proposal
tune       the settings of one method that are best on dev
metrics    what methods are compared by; verdict: who leads, ties, or is open; mistakes: where a method errs
report     the page and the table
"""
