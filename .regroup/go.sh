# go.sh CHECKOUT: clean checkout -> regrouped
set -e
cd $1
python3 .regroup/lazyinit.py $1 >/dev/null; python3 .regroup/pre.py $1; git add -A
bash .regroup/resources.sh
python .regroup/regroup.py $1
[ -f .regroup/post.py ] && python3 .regroup/post.py $1
ruff check -q --fix alignkit tests benchmarks >/dev/null 2>&1 || true; ruff format -q .
find alignkit -name '*.py' -o -name '*.pyi' | xargs cat | wc -l; find alignkit -name '*.py' | wc -l
ruff check alignkit tests benchmarks --statistics || true
ruff check alignkit tests benchmarks --output-format concise | grep -v "E501\|D400"
