"""A folder with a random transformer of two layers, for tests that need PyTorch but no weights."""

import pytest


def tiny_encoder(folder, *, layers=2, places=64, positions="bert"):
    """Make a folder that transformers can load, of a random model; skip without PyTorch."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    torch.manual_seed(0)
    letters = "abcdefghijklmnopqrstuvwxyzäö今日は良い.,"
    pieces = ["<pad>", "<s>", "</s>", "<unk>", "▁", *letters, *(f"▁{letter}" for letter in letters)]
    scores = [(piece, -float(number)) for number, piece in enumerate(pieces)]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=3))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), spaces])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    marks = [("<s>", 1), ("</s>", 2)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=marks
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="<pad>",
        model_max_length=places,
    )
    kinds = {
        "bert": (transformers.BertConfig, transformers.BertModel),
        "xlm-roberta": (transformers.XLMRobertaConfig, transformers.XLMRobertaModel),
    }
    config, model = kinds[positions]
    made = model(
        config(
            vocab_size=len(pieces),
            hidden_size=16,
            num_hidden_layers=layers,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=places,
            pad_token_id=0,
        )
    )
    made.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
