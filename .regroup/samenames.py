import ast,pathlib,sys
root=pathlib.Path(sys.argv[1])/'alignkit'
for p in root.rglob('__init__.pyi'):
    names={a.name for st in ast.parse(p.read_text()).body for a in st.names}
    sib={x.stem for x in p.parent.iterdir()}
    if names&sib: print(p,names&sib)
