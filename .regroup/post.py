import pathlib,sys
top=pathlib.Path(sys.argv[1]);root=top/'alignkit'
def sub(p,a,b,n=-1):
    q=top/p; s=q.read_text(); assert a in s,(p,a); q.write_text(s.replace(a,b,n))
sub('alignkit/annotate/project/names.py','.parent.parent','.parent.parent.parent') if 'resolve().parent.parent\n' in (root/'annotate/project/names.py').read_text() else None
sub('alignkit/_support/kernel_cache.py','PACKAGE = Path(__file__).parent','PACKAGE = Path(__file__).parent.parent')
sub('alignkit/_support/kernel_cache.py','PACKAGE / "jit.py"','PACKAGE / "_support" / "jit.py"')
c=root/'cli/main.py'
s=c.read_text()
a=s.index('def _module('); b=s.index('\n\n\n',a)
s=s[:a]+'''def _module(prog: str) -> str:
    """Return the module of a command: ``evaluate.audit_read`` of ``alignkit audit read``."""
    name = "_".join(prog.replace("-", "_").split()[1:])
    folder = next(folder for folder, names in _FOLDERS.items() if name in names)
    return f"{folder}.{name}_" if iskeyword(name) else f"{folder}.{name}"'''+s[b:]
s=s.replace('\nCOMMANDS = {','''
_FOLDERS = {
    "align": ("align", "learn", "symmetrize"),
    "annotate": ("annotate", "assign", "events", "export", "import", "pull", "yield"),
    "corpora": (
        "check",
        "concat",
        "convert",
        "labels",
        "merge",
        "pairs",
        "select",
        "show",
        "stats",
    ),
    "evaluate": (
        "agree",
        "audit",
        "audit_pairs",
        "audit_phrases",
        "audit_read",
        "errors",
        "profile",
        "quality",
        "score",
        "score_labels",
        "score_phrases",
    ),
    "phrases": ("paraphrase", "phrases", "pivot", "rules", "score_rules"),
}
COMMANDS = {''',1)
c.write_text(s)
r=root/'io/registry.py'; s=r.read_text(); s=s.replace('f"alignkit.io.{','f"alignkit.io.formats.{'); r.write_text(s)
s=(top/'setup.cfg').read_text()
s=s.replace('alignkit.align.supervised = samples.json','alignkit.align.supervised = samples.json')
if 'lazy_loader' not in s: s=s.replace('    networkx','    lazy_loader>=0.3\n    networkx',1)
lines=s.split('\n'); k=next(i for i,l in enumerate(lines) if l.startswith('alignkit = py.typed')); end=next(i for i in range(k,len(lines)) if not lines[i].strip())
data=dict(l.split(' = ') for l in lines[k:end])
for a,v in list(data.items()):
    left=[x for x in v.split(', ') if x!='*.pyi']
    if left: data[a]=', '.join(left)
    else: del data[a]
for p in sorted(root.rglob('__init__.pyi')):
    pk='.'.join(('alignkit',*p.parent.relative_to(root).parts))
    data[pk]=data[pk]+', *.pyi' if pk in data else '*.pyi'
lines[k:end]=[f'{a} = {b}' for a,b in sorted(data.items())]
s='\n'.join(lines)
(top/'setup.cfg').write_text(s)
