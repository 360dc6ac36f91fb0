from .encoding import EncoderUsed as EncoderUsed
from .encoding_counts import EncodingCounts as EncodingCounts
from .functions import EncoderLike as EncoderLike
from .functions import FunctionEncoder as FunctionEncoder
from .transformer import Encoder as Encoder
