"""Inspection of a fit: whether unlabeled rows help, class shares, why a class is predicted, which labels look wrong.

All but `estimate_class_prior` use the weights of a linear classifier. `model` is a fitted classifier with `coef_`, a
pipeline that ends in one, or a search (`GridSearchCV`) over one. Rows are the input of `model.predict`, such as texts
for a pipeline.
"""

from fewlabel.inspection._check import Check as Check, check
from fewlabel.inspection._compare import compare
from fewlabel.inspection._estimate_class_prior import (
    ClassPriorEstimate as ClassPriorEstimate,
    estimate_class_prior,
)
from fewlabel.inspection._features import Explanation as Explanation, TopFeatures as TopFeatures, explain, top_features
from fewlabel.inspection._suspicious_labels import SuspiciousLabels as SuspiciousLabels, suspicious_labels

__all__ = ["check", "compare", "estimate_class_prior", "explain", "suspicious_labels", "top_features"]
