"""The style of the HTML drawings: light and dark, screen, phone and paper."""

from __future__ import annotations

from functools import cache


@cache
def page_style() -> str:
    """Return the style sheet of a page of tables and figures, over those below."""
    from importlib.resources import files  # takes 10 ms, and plain text does without

    return files("alignkit.show").joinpath("page.css").read_text(encoding="utf-8")


MATRIX_STYLE = """
.alignkit{--ink:#1b1b1b;--paper:#fff;--soft:#5c5c5c;--line:#d9d9d9;--hover:#eef2f6;
--a:#0060a8;--b:#a84300;--mix:#7b3f98;--on:#fff;--shade:#0006;
color:var(--ink);background:var(--paper);font:15px/1.45 system-ui,sans-serif;
color-scheme:light dark}
@media(prefers-color-scheme:dark){.alignkit{--ink:#ececec;--paper:#181a1b;--soft:#a8a8a8;
--line:#3c3f41;--hover:#26292b;--a:#66b8ff;--b:#ff9d57;--mix:#d6a2ee;--on:#111;--shade:#fff7}}
.alignkit .scroll{overflow-x:auto;max-width:100%;
background:linear-gradient(to right,var(--paper) 40%,transparent) left/2.5em 100% no-repeat local,
linear-gradient(to left,var(--paper) 40%,transparent) calc(100% + 1px) 0/2.5em 100% no-repeat local,
linear-gradient(to right,var(--shade),transparent) left/.9em 100% no-repeat scroll,
linear-gradient(to left,var(--shade),transparent) right/.9em 100% no-repeat scroll}
.alignkit table{border-collapse:separate;border-spacing:0;margin:.4em 0}
.alignkit th{font-weight:400}
.alignkit .matrix{font-size:14px;line-height:1.2}
.alignkit .matrix td{width:20px;min-width:20px;height:20px;padding:0;text-align:center;
border-right:1px solid var(--line);border-bottom:1px solid var(--line)}
.alignkit .matrix thead td{border:0;position:sticky;left:0;background:var(--paper)}
.alignkit .matrix th[scope=col]{vertical-align:bottom;padding:0 0 5px;height:3em}
.alignkit .matrix th[scope=col] bdi{display:block;margin:auto;writing-mode:vertical-rl;
transform:rotate(180deg);max-height:16em;overflow:hidden;white-space:pre}
.alignkit .matrix th[scope=col] bdi.upright{transform:none;text-orientation:upright;
text-align:right}
.alignkit .matrix th[scope=row]{position:sticky;left:0;background:var(--paper);
text-align:right;padding:0 8px 0 0;white-space:pre;max-width:16em;overflow:hidden;
text-overflow:ellipsis;border-right:1px solid var(--line)}
.alignkit .matrix tbody tr:first-child>*{border-top:1px solid var(--line)}
.alignkit .matrix tbody tr:first-child th{border-top-color:transparent}
.alignkit .matrix tbody tr:hover>*{background:var(--hover)}
.alignkit .empty-word{color:var(--soft)}
.alignkit b{display:inline-block;box-sizing:border-box;width:16px;height:16px;
border:2px solid var(--ink);font:700 11px/12px system-ui,sans-serif;text-align:center;
vertical-align:middle;overflow:hidden;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.alignkit b.sure{background:var(--ink);color:var(--ink)}
.alignkit b.possible{color:transparent}
.alignkit b.first-surer{border-color:var(--mix);color:transparent;
background:linear-gradient(90deg,var(--mix) 50%,transparent 50%)}
.alignkit b.second-surer{border-color:var(--mix);color:transparent;
background:linear-gradient(90deg,transparent 50%,var(--mix) 50%)}
.alignkit b.some{border-color:var(--mix);color:var(--mix)}
.alignkit b.first-sure{border-color:var(--a);background:var(--a);color:var(--on)}
.alignkit b.first-possible{border:2px dotted var(--a);color:var(--a)}
.alignkit b.second-sure{border-color:var(--b);background:var(--b);color:var(--on);
border-radius:50%}
.alignkit b.second-possible{border:2px dotted var(--b);color:var(--b);border-radius:50%}
@media(forced-colors:active){.alignkit b{color:CanvasText!important;border:0}}
.alignkit .legend{list-style:none;padding:0;margin:.4em 0;display:flex;flex-wrap:wrap;
gap:.2em 1.4em;font-size:14px}
.alignkit .facts{color:var(--soft);margin:.1em 0;overflow-wrap:anywhere}
.alignkit .sentence{margin:.15em 0;width:fit-content;max-width:min(100%,75em);
overflow-wrap:anywhere}
.alignkit dl{margin:.4em 0;display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;
font-size:14px}
.alignkit dt{color:var(--soft)}
.alignkit dd{margin:0;white-space:pre-line;overflow-wrap:anywhere;min-width:0;
width:fit-content;max-width:100%}
@media print{.alignkit{--ink:#000;--paper:#fff;--soft:#333;--line:#888;--a:#00508c;--b:#8a3600;
--mix:#5f2f7b;--on:#fff;color-scheme:light}}
"""

PAGE_STYLE = """
body{margin:0}
body.alignkit{padding:1.2em;min-height:100vh;box-sizing:border-box}
h1{font-size:1.5em;margin:0 0 .4em}
h2{font-size:1.1em;margin:0 0 .2em;overflow-wrap:anywhere}
article{border-top:1px solid var(--line);padding:1em 0;content-visibility:auto;
contain-intrinsic-size:auto 600px}
nav{margin:.6em 0;overflow-wrap:anywhere}
nav :is(a,strong){margin-right:1em}
nav a{color:var(--a)}
nav ol{margin:.3em 0;columns:18em;padding-left:2.5em}
.totals th,.totals td{padding:.1em 1.2em .1em 0;text-align:right;white-space:nowrap}
.totals th[scope=row],.totals thead th:first-child{text-align:left}
.totals thead th{color:var(--soft)}
@media(max-width:600px){body.alignkit{padding:.7em}.alignkit dl{grid-template-columns:1fr}
.alignkit .matrix th[scope=row]{max-width:8em}}
@media print{nav{display:none}article{break-inside:avoid;content-visibility:visible}
.alignkit .scroll{overflow:visible;background:none}}
"""
