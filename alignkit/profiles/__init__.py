"""See where systems and crowds err: by phenomenon, by kind of link; and how alike texts are."""

from alignkit.profiles.crowd import crowd_quality
from alignkit.profiles.crowd_result import CrowdQuality
from alignkit.profiles.diversity import Diversity, diversity
from alignkit.profiles.error_report import ClassErrors, LinkErrors
from alignkit.profiles.friedman import Friedman, critical_difference, friedman
from alignkit.profiles.judged import profile_labels
from alignkit.profiles.label_scores import LabelScores, score_labels
from alignkit.profiles.link_errors import BY_LINK, link_errors
from alignkit.profiles.mcnemar import mcnemar
from alignkit.profiles.measured import Measured, read_measured
from alignkit.profiles.phenomena import OnPhenomenon, Profile
from alignkit.profiles.predictions import with_predictions
from alignkit.profiles.ranking import Ranking, rank
from alignkit.profiles.systems import profile_rows

__all__ = [
    "BY_LINK",
    "ClassErrors",
    "CrowdQuality",
    "Diversity",
    "Friedman",
    "LabelScores",
    "LinkErrors",
    "Measured",
    "OnPhenomenon",
    "Profile",
    "Ranking",
    "critical_difference",
    "crowd_quality",
    "diversity",
    "friedman",
    "link_errors",
    "mcnemar",
    "profile_labels",
    "profile_rows",
    "rank",
    "read_measured",
    "score_labels",
    "with_predictions",
]
