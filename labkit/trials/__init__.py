"""Trials: methods x settings x seeds on one corpus, and what they say.

engine    a trial is a training and its scores; its result is one small file, computed once
space     what is tried of a method's settings, and the next proposal
tune      the settings of one method that are best on dev
doctor    what there is to know about a corpus before anything is trained; `doubts` are its suspicious labels
"""
