# files that are not Python, before the modules move
set -e
mkdir -p alignkit/show alignkit/io alignkit/align/supervised
git mv alignkit/report/*.css alignkit/report/*.j2 alignkit/report/function_words alignkit/show/
git mv alignkit/formats/alignkit.rng alignkit/io/
git mv alignkit/aligner/refine/samples.json alignkit/align/supervised/
