"""Extract hiero rules, and label spans, by their definitions (docs/rules.md): slow, plain."""

from itertools import combinations

from reference_phrases import phrase_pairs

from alignkit.rules.grammar import Node, Rule, Variable


def left(box, holes):
    """Return the source and target words of a box that lie in no hole."""
    source = [i for i in range(*box[:2]) if not any(h[0] <= i < h[1] for h in holes)]
    return source, [j for j in range(*box[2:]) if not any(h[2] <= j < h[3] for h in holes)]


def derivations(n, m, links, options):
    """Return (box, holes) of each rule: holes from left to right on the source side."""
    boxes = [box for box, _ in phrase_pairs(links, n, m, options.loose)]
    boxes = [h for h in boxes if max(h[1] - h[0], h[3] - h[2]) <= options.max_length]
    large = [h for h in boxes if min(h[1] - h[0], h[3] - h[2]) >= options.min_hole]
    found = []
    for box in boxes:
        inner = [h for h in large if box[0] <= h[0] and h[1] <= box[1] and box[2] <= h[2]]
        inner = [h for h in inner if h[3] <= box[3]]
        for count in range(options.max_variables + 1):
            for holes in combinations(inner, count):
                apart = all(h[1] < g[0] and (h[3] <= g[2] or g[3] <= h[2])
                            for h, g in combinations(holes, 2))  # fmt: skip
                if not apart:
                    continue
                sides = left(box, holes)
                short = all(len(side) + count <= options.max_symbols for side in sides)
                if short and any(i in sides[0] and j in sides[1] for i, j in links):
                    found.append((box, holes))
    return found


def rule_of(source, target, links, box, holes, label):
    """Return a rule, and the links of its words as places of symbols."""
    sides, places = [], []
    for words, at in ((source, 0), (target, 2)):
        items, place = [], {}
        position = box[at]
        while position < box[at + 1]:
            hole = [k for k, h in enumerate(holes) if h[at] == position]
            if hole:
                items.append(Variable(hole[0], label(holes[hole[0]])))
                position = holes[hole[0]][at + 1]
            else:
                place[position] = len(items)
                items.append(words[position])
                position += 1
        sides.append(Node(label(box), tuple(items)))
        places.append(place)
    linked = [(places[0][i], places[1][j])
              for i, j in sorted(links) if i in places[0] and j in places[1]]  # fmt: skip
    return Rule(*sides), tuple(linked)


def hiero(source, target, links, options, label=lambda box: "X"):
    return [(rule, box, holes, linked)
            for box, holes in derivations(len(source), len(target), links, options)
            for rule, linked in [rule_of(source, target, links, box, holes, label)]]  # fmt: skip


def constituent(tree, start, end):
    """Return the label of the highest node over just these words, if there is one."""
    for label, first, last in zip(tree.labels, tree.starts, tree.ends, strict=True):
        if (first, last) == (start, end) and start < end:
            return label
    return None


def span_label(tree, start, end):
    """Return the label of a span: constituent, A+B, A/B, A\\B, A+B+C, X."""
    n, forms = len(tree.words), [((start, end),)]
    forms += [((start, k), (k, end)) for k in range(start + 1, end)]
    marks = [""] + ["+"] * (len(forms) - 1)
    right = [((start, e), (end, e)) for e in range(end + 1, n + 1)]
    left = [((b, end), (b, start)) for b in range(start - 1, -1, -1)]
    three = [((start, j), (j, k), (k, end)) for j, k in combinations(range(start + 1, end), 2)]
    forms += right + left + three
    marks += ["/"] * len(right) + ["\\"] * len(left) + ["+"] * len(three)
    for form, mark in zip(forms, marks, strict=True):
        labels = [constituent(tree, *span) for span in form]
        if None not in labels:
            return mark.join(labels)
    return "X"


def grammar(instances):
    """Return count, sentence pairs and probabilities of each rule, given (pair, rule) as seen."""
    counts, pairs, sources, targets, labels = {}, {}, {}, {}, {}
    for pair, rule in instances:
        for table, key in ((counts, rule), (sources, rule.source), (targets, shape(rule.target)),
                           (labels, (rule.source.label, rule.target.label))):  # fmt: skip
            table[key] = table.get(key, 0) + 1
        pairs.setdefault(rule, set()).add(pair)
    return {rule: (count, len(pairs[rule]), count / sources[rule.source],
                   count / targets[shape(rule.target)],
                   count / labels[rule.source.label, rule.target.label])
            for rule, count in counts.items()}  # fmt: skip


def shape(side):
    """Return a side without the numbers of its variables, which tell of the other side."""
    return side.label, tuple(("x", item.label) if isinstance(item, Variable) else item
                             for item in side.children)  # fmt: skip


def word_weights(pairs):
    """Return w(t | s) and w(s | t) by word pair, None for NULL; of (source, target, links)."""
    tables = []
    for side in (0, 1):
        joint, totals = {}, {}
        for *texts, links in pairs:
            given, told = texts[side], texts[1 - side]
            for k, word in enumerate(told):
                for head in [given[one[side]] for one in links if one[1 - side] == k] or [None]:
                    joint[head, word] = joint.get((head, word), 0) + 1
                    totals[head] = totals.get(head, 0) + 1
        tables.append({key: count / totals[key[0]] for key, count in joint.items()})
    return tables


def lexical(rule, linked, tables):
    """Return the lexical weights of the target and the source side of a rule."""
    weights = []
    for side in (0, 1):
        given, told = (rule[k].children for k in (side, 1 - side))
        product_ = 1.0
        for k, word in enumerate(told):
            if isinstance(word, Variable):
                continue
            heads = [given[link[side]] for link in linked if link[1 - side] == k] or [None]
            product_ *= sum(tables[side][head, word] for head in heads) / len(heads)
        weights.append(product_)
    return tuple(weights)
