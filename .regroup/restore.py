import ast,subprocess,pathlib,tokenize,io,sys
public=set()
for p in pathlib.Path('alignkit').rglob('__init__.py*'):
    if p.suffix=='.pyi':
        for st in ast.parse(p.read_text()).body: public|={a.name for a in st.names}
    elif p.suffix=='.py':
        for n in ast.parse(p.read_text()).body:
            if isinstance(n,ast.Assign) and getattr(n.targets[0],'id','')=='__all__': public|={e.value for e in n.value.elts}
REV=sys.argv[1]
files=subprocess.run(['git','show','--name-only','--format=',REV],capture_output=True,text=True).stdout.split()
total=0
for f in files:
    p=pathlib.Path(f)
    if not p.exists() or not f.startswith('alignkit/'): continue
    old=subprocess.run(['git','show',f'{REV}^:{f}'],capture_output=True,text=True).stdout
    olds={n.name:n for n in ast.parse(old).body if isinstance(n,ast.ClassDef)}
    src=p.read_text();lines=src.split('\n')
    for n in sorted((n for n in ast.parse(src).body if isinstance(n,ast.ClassDef)),key=lambda n:-n.lineno):
        if n.name not in public or n.name not in olds: continue
        o=olds[n.name]
        od=ast.get_docstring(o,clean=False)
        if not od or ('Attributes' not in od and 'Parameters' not in od): continue
        nd=ast.get_docstring(n,clean=False) or ''
        if 'Attributes\n' in nd or 'Parameters\n' in nd: continue
        fields=[x for x in n.body if isinstance(x,ast.AnnAssign)]
        if not fields: continue
        d=n.body[0]; first,last=d.end_lineno,max(x.end_lineno for x in fields)
        body='\n'.join(lines[first:last])
        # strip comments
        out=[]
        toks=[t for t in tokenize.generate_tokens(io.StringIO('\n'.join(l for l in lines[first:last])+'\n').readline) if t.type==tokenize.COMMENT] if True else []
        bl=lines[first:last]
        for t in toks:
            if 'noqa' in t.string or 'type:' in t.string: continue
            i=t.start[0]-1; bl[i]=bl[i][:t.start[1]].rstrip() if bl[i][:t.start[1]].strip() else None
        bl=[l for l in bl if l is not None]
        oldfields={x.target.id for x in o.body if isinstance(x,ast.AnnAssign)}
        newfields={x.target.id for x in fields}
        if oldfields!=newfields: print('fields differ',f,n.name,oldfields^newfields)
        lines[d.lineno-1:last]=['    """'+od.strip('\n').rstrip()+'\n    """']+bl
        total+=1
    p.write_text('\n'.join(lines))
print(total)
