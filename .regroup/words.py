import ast,pathlib,sys,collections
root=pathlib.Path(sys.argv[1])/'alignkit';c=collections.Counter()
for p in root.rglob('*.py'):
    for n in ast.walk(ast.parse(p.read_text())):
        if isinstance(n,ast.Name) and isinstance(n.ctx,ast.Store) and n.id in('found','one','told'): c[n.id,str(p.relative_to(root)).split('/')[0]]+=1
        if isinstance(n,ast.arg) and n.arg in('found','one','told'): c[n.arg,str(p.relative_to(root)).split('/')[0]]+=1
        if isinstance(n,(ast.FunctionDef,)) and n.name in('found','one','told'): print('def',n.name,p)
print(sum(c.values()),c.most_common(40))
