"""Cut docstrings of internals to their first paragraph; report lines saved. docstrings.py CHECKOUT [-w]"""
import ast,pathlib,sys,re
top=pathlib.Path(sys.argv[1]);root=top/'alignkit';write='-w' in sys.argv
public=set()
for p in root.rglob('__init__.py'):
    t=ast.parse(p.read_text())
    for n in ast.walk(t):
        if isinstance(n,ast.Assign) and any(isinstance(x,ast.Name) and x.id=='__all__' for x in n.targets):
            public|={e.value for e in n.value.elts}
    pyi=p.with_suffix('.pyi')
    if pyi.exists():
        for n in ast.walk(ast.parse(pyi.read_text())):
            if isinstance(n,ast.Assign) and any(isinstance(x,ast.Name) and x.id=='__all__' for x in n.targets):
                public|={e.value for e in n.value.elts}
stat=dict(module=0,public=0,internal=0,saved=0,kernel=0)
for p in root.rglob('*.py'):
    src=p.read_text();t=ast.parse(src);lines=src.split('\n');edits=[]
    def visit(node,pub,depth):
        for n in node.body:
            if isinstance(n,(ast.FunctionDef,ast.AsyncFunctionDef,ast.ClassDef)):
                inner=(n.name in public) if depth==0 else (pub and (not n.name.startswith('_') or n.name in('__init__',)))
                handle(n,inner)
                if isinstance(n,ast.ClassDef): visit(n,inner,depth+1)
                else: visit_f(n)
            elif hasattr(n,'body') and isinstance(n.body,list): visit(n,pub,depth)
    def visit_f(f):
        for n in ast.walk(f):
            if n is not f and isinstance(n,(ast.FunctionDef,ast.ClassDef)): handle(n,False)
    def handle(n,pub):
        if not(n.body and isinstance(n.body[0],ast.Expr) and isinstance(n.body[0].value,ast.Constant) and isinstance(n.body[0].value.value,str)): return
        d=n.body[0];size=d.end_lineno-d.lineno+1
        text=d.value.value
        kind='module' if isinstance(n,ast.Module) else 'public' if pub else 'internal'
        stat[kind]+=size
        if kind=='public': return
        if isinstance(n,ast.Module) and (p.parent.name=='cli' or 'For example:' in text or p.name=='__init__.py'): return
        if p.name.endswith('kernel.py') and kind=='internal': stat['kernel']+=size; return
        first=text.split('\n\n')[0].rstrip()
        if '>>>' in text and kind!='module': stat.setdefault('doctest',0);stat['doctest']+=size; return
        newsize=first.count('\n')+1+(1 if '\n' in first else 0)
        if newsize<size: edits.append((d,first)); stat['saved']+=size-newsize
    handle(t,False);visit(t,False,0)
    if write and edits:
        for d,first in sorted(edits,key=lambda e:-e[0].lineno):
            ind=' '*d.col_offset
            raw=lines[d.lineno-1][d.col_offset:]
            pre=raw[:raw.index('"""')+3] if '"""' in raw else '"""'
            srcdoc='\n'.join(lines[d.lineno-1:d.end_lineno])
            inner=srcdoc[srcdoc.index('"""')+3:srcdoc.rindex('"""')]
            f=inner.split('\n\n')[0].rstrip()
            lines[d.lineno-1:d.end_lineno]=(ind+pre+f+('\n'+ind if '\n' in f else '')+'"""').split('\n')
        p.write_text('\n'.join(lines))
print(stat)
