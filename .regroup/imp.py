import sys,importlib,pathlib,subprocess
root=pathlib.Path(sys.argv[1])/'alignkit';bad=0
sys.path.insert(0,sys.argv[1])
mods=[]
for p in sorted(root.rglob('*.py')):
    m='alignkit.'+'.'.join(p.relative_to(root).with_suffix('').parts)
    mods.append(m.removesuffix('.__init__'))
import os
for m in mods:
    if m.endswith('__main__') or m=='alignkit': continue
    pid=os.fork()
    if pid==0:
        try: importlib.import_module(m)
        except BaseException as e:
            print(m,type(e).__name__,str(e)[:250]); os._exit(1)
        os._exit(0)
    bad+=os.waitpid(pid,0)[1]!=0
print('bad',bad)
