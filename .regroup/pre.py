"""edits of the checkout before regroup"""
import pathlib,sys,re
root=pathlib.Path(sys.argv[1])/'alignkit'
def sub(p,a,b):
    q=root/p; s=q.read_text(); assert a in s,(p,a); q.write_text(s.replace(a,b,1))
# drawings of trees and pages of rules are exported by rules; tables by tables
q=root/'scoring/measures.py'; s=q.read_text()
cut=[]
def take(start,end):
    global s
    a=s.index(start); b=s.index(end,a); cut.append(s[a:b].rstrip()); s=s[:a]+s[b:]
take('Counts = Union','def link_ratios')
take('def none_if_nan','def _first')
s=s.replace('from alignkit.scoring.counts import','from alignkit.scoring.ratios import LOWER_IS_BETTER, Counts, Ratios, harmonic, none_if_nan, ratio\nfrom alignkit.scoring.counts import',1)
q.write_text(s)
(root/'scoring/ratios.py').write_text('"""Ratios of counts; 0/0 is undefined: NaN here and None in JSON."""\n\nfrom __future__ import annotations\n\nfrom collections.abc import Callable\nfrom typing import Union\nimport math\n\nimport numpy as np\nfrom numpy.typing import NDArray\n\n'+'\n\n\n'.join(cut)+'\n')

p=root/'formats/__init__.py'; src=p.read_text()
import ast
t=ast.parse(src)
node=next(n for n in t.body if isinstance(n,ast.Assign) and n.targets[0].id=='__all__')
names=ast.literal_eval(node.value)
lines=src.split('\n')
seg='\n'.join(lines[node.lineno-1:node.end_lineno])
(root/'formats/reading.py').write_text(src.replace(seg+'\n',''))
p.write_text('"""Read and write corpora in any format."""\n\nimport lazy_loader\n\n__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)\n')
p.with_suffix('.pyi').write_text('from .reading import '+', '.join(f'{n} as {n}' for n in names)+'\n')
