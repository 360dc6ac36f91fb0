from .wording_diversity import Diversity as Diversity
from .wording_diversity import diversity as diversity
