import ast,pathlib,collections,sys
root=pathlib.Path(sys.argv[1])/'alignkit'
d=collections.defaultdict(list)
for p in root.rglob('*.py'):
    for n in ast.walk(ast.parse(p.read_text())):
        if isinstance(n,ast.ClassDef): d[n.name].append('.'.join(p.relative_to(root).with_suffix('').parts))
for k,v in sorted(d.items()):
    if len(v)>1: print(k,v)
