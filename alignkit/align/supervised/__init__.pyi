from .learned import OBJECTIVES as OBJECTIVES
from .measures import LearningReport as LearningReport
from .prior import Prior as Prior
from .refiner import Refiner as Refiner
