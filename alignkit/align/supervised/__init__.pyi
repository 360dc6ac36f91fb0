from .learned import OBJECTIVES as OBJECTIVES
from .learned import Prior as Prior
from .measures import LearningReport as LearningReport
from .refiner import Refiner as Refiner
