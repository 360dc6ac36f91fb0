from .remapping import remap as remap
from .wording_diversity import Diversity as Diversity
from .wording_diversity import diversity as diversity
