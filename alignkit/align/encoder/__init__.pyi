from .encoding import EncoderLike as EncoderLike
from .encoding import EncoderUsed as EncoderUsed
from .encoding import EncodingCounts as EncodingCounts
from .encoding import FunctionEncoder as FunctionEncoder
from .transformer import Encoder as Encoder
