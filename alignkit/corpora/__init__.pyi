from .concordance import Concordance as Concordance
from .concordance import Glossary as Glossary
from .consistency import Consistency as Consistency
from .consistency import consistency as consistency
from .remapping import remap as remap
from .wording_diversity import Diversity as Diversity
from .wording_diversity import diversity as diversity
