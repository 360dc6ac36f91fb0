from .html import draw_html as draw_html
from .html import draw_html_fragment as draw_html_fragment
from .interlinear import draw_interlinear as draw_interlinear
from .svg import draw_svg as draw_svg
from .text import draw_text as draw_text
