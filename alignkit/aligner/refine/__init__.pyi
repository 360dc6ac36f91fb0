from .measures import OBJECTIVES as OBJECTIVES
from .priors import Prior as Prior
from .refiner import Refiner as Refiner
from .report import LearningReport as LearningReport
