import sys, builtins, traceback
orig=builtins.__import__
HEAVY={'numpy','lxml','networkx','nltk','numba','scipy'}
seen=set()
def imp(name,*a,**k):
    top=name.split('.')[0]
    if top in HEAVY and top not in sys.modules and top not in seen:
        seen.add(top)
        print(top, [f"{f.filename.split('alignkit/')[-1]}:{f.lineno}" for f in traceback.extract_stack() if '/alignkit/' in f.filename])
    return orig(name,*a,**k)
builtins.__import__=imp
import alignkit.cli.main
