from .tree import Child as Child
from .tree import Tree as Tree
