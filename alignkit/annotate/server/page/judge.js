// The page on which pairs get a label, flags and corrected texts; for adjudicators, with the votes
// of all.
import {$, button, html, item, key, on, say, set} from "./dom.js"
import {freeKey, inOrder} from "./made.js"
import {SHARED, Sheet, start} from "./sheet.js"

const PLACE = "-1,-1" // of the judgment among the cells, where its reason is kept
const LETTERS = "asdfqezxvbyim"
const TAKING = [
	["1 2 3 4 5 6 7 8 9", "vote", "take a vote", "1 2 …"],
	["S-1 S-2 S-3 S-4 S-5 S-6 S-7 S-8 S-9", "take", "take a rewrite of a vote", "Shift+1 2 …"],
]
const spoken = ([label, ...flags]) => [label, ...flags].filter(Boolean).join(", ") || "none"
const value = (label, flags) => (label || flags.length ? [label, ...flags] : [])

// The words of a text as the server divides it: without byte order marks before them; U+FEFF alone
// is a word.
const wordsOf = text =>
	text
		.split(/[^\S\ufeff]+/)
		.filter(Boolean)
		.map(word => word.replace(/^\ufeff+(?=[^\ufeff])/, ""))

// A name without the sign that stands beside it as a key.
function bare(name, sign) {
	if (name === sign) return ""
	return sign && name.startsWith(`${sign} `) ? name.slice(sign.length + 1) : name
}

// The keys of labels and flags. A single sign is its own key; other labels have their numbers,
// other flags a letter of their name. Where digits take votes, labels have letters.
export function signsOf(labels, flags, taken, digits) {
	const used = new Set(taken)
	const signs = new Map()
	const give = (entry, wanted) => {
		const sign = wanted.find(one => one && !used.has(one))
		if (!sign) return
		used.add(sign)
		signs.set(entry, sign)
	}
	const single = one => (one.length === 1 && (digits || !/\d/.test(one)) ? [one] : [])
	for (const [at, label] of labels.entries()) {
		const number = digits && at < 9 ? [String(at + 1)] : []
		give(label, [...single(label.value), ...number, ...LETTERS])
	}
	for (const flag of flags) {
		const own = flag.value.toLowerCase().replace(/[^a-z]/g, "")
		give(flag, [...single(flag.value), ...own, ...LETTERS])
	}
	return signs
}

// The two texts of a rewrite, with buttons.
const card = (name, texts, ...buttons) =>
	item(
		html("small", {}, name),
		html("p", {dir: "auto"}, texts[0]),
		html("p", {dir: "auto"}, texts[1]),
		html("span", {class: "row"}, ...buttons),
	)

class Judge extends Sheet {
	constructor(wire) {
		super(wire, SHARED, "pair")
		const {labels = [], flags = []} = wire.project.scheme || {}
		const votes = this.adjudicates
		const own = [
			["w", "write", "write a rewrite: a corrected version of the pair"],
			["e", "edit", "edit the last rewrite"],
		]
		const back = ["Escape", "escape", "from anywhere: back to the texts", "Esc"]
		const taking = votes ? {Votes: TAKING} : {}
		const taken = Object.values(SHARED)
			.flat()
			.concat(own)
			.flatMap(([names]) => names.split(" "))
		this.signs = signsOf(labels, flags, taken, !votes)
		const row = (entry, action) => [
			this.signs.get(entry),
			`${action} ${entry.value}`,
			entry.about || entry.name,
		]
		this.keyed({
			...taking,
			Labels: labels.filter(one => this.signs.has(one)).map(one => row(one, "label")),
			Flags: flags.filter(one => this.signs.has(one)).map(one => row(one, "flag")),
			Rewrites: own,
			Pair: [...SHARED.Pair, back],
		})
		Object.assign(this, {labels, flags})
		this.choices()
		document.body.classList.toggle("votes", votes)
		on(wire, "votes", ({detail}) => {
			if (detail?.includes(this.session?.k)) this.revote()
		})
		on($("editor"), "submit", event => this.kept(event))
		on($("editor"), "keydown", event => {
			if (event.key === "Escape") this.close()
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.kept(event)
		})
	}

	// A digit with Shift is another sign on each keyboard: its place tells.
	pressed(event) {
		const digit = /^Digit([1-9])$/.exec(event.code)?.[1]
		const shifted = event.shiftKey && !event.ctrlKey && !event.altKey
		if (!digit || !shifted || !this.adjudicates) return super.pressed(event)
		const {target} = event
		const typing = target.closest("textarea, input:not([type=radio])")
		if (typing || !target.closest("#work")) return super.pressed(event)
		event.preventDefault()
		this.do_take(Number(digit) - 1)
	}

	choices() {
		$("judgment").hidden = !this.labels.length && !this.flags.length
		$("labels").append(...this.labels.map(entry => this.labelChoice(entry)))
		$("flags").append(...this.flags.map(entry => this.flagChip(entry)))
	}

	// A label with its key, as a radio button.
	labelChoice(entry) {
		const input = html("input", {type: "radio", name: "judgment", value: entry.value})
		on(input, "click", () => this.do_label(entry.value))
		const sign = this.signs.get(entry)
		const name = bare(entry.name, sign)
		const text = html("span")
		if (sign) text.append(key(sign), " ")
		text.append(
			html("b", {}, name || entry.about || entry.name),
			html("small", {}, name && entry.about),
		)
		return html("label", {}, input, text)
	}

	// A flag with its key, as a button that stays pressed.
	flagChip(entry) {
		const sign = this.signs.get(entry)
		const chip = button(() => this.do_flag(entry.value), "chip", bare(entry.name, sign))
		if (sign) chip.append(" ", key(sign))
		return set(chip, {title: entry.about || null, "data-value": entry.value})
	}

	opened() {
		this.close(false)
	}

	draw() {
		super.draw()
		this.texts()
		this.judged()
		this.votes()
		this.rewrites()
	}

	texts() {
		const {doc} = this
		const {attributes} = doc
		if (this.shown === doc) return
		this.shown = doc
		for (const side of ["source", "target"]) {
			const words = doc[side].join(" ")
			const around = attributes[`${side}_context`] || ""
			const dir = doc.direction?.[side] || "auto"
			set($(`${side}-text`), {dir, lang: attributes[`${side}_language`]}).textContent = words
			const context = $(`${side}-context`)
			const at = around.indexOf(words)
			set(context, {dir}).replaceChildren(
				...(at < 0
					? [around]
					: [around.slice(0, at), html("mark", {}, words), around.slice(at + words.length)]),
			)
			context.hidden = !around
		}
		const letters = Math.max(...["source", "target"].map(side => doc[side].join(" ").length))
		let size = "" // the fewer letters, the larger
		if (letters < 200) size = "short"
		else if (letters < 500) size = "medium"
		$("text").className = size
		$("context").textContent = attributes.context || ""
		$("context").hidden = !attributes.context
	}

	judged() {
		const {judgment, flags: held} = this.pair
		const known = [...this.labels, ...this.flags].map(entry => entry.value)
		$("foreign").textContent = [judgment, ...held]
			.filter(one => one && !known.includes(one))
			.join(", ")
		for (const input of $("labels").querySelectorAll("input"))
			input.checked = input.value === judgment
		for (const chip of $("flags").children) {
			const {value} = chip.dataset
			set(chip, {"aria-pressed": held.includes(value)})
			chip.disabled = !this.allowed(value, judgment) && !held.includes(value)
		}
	}

	allowed(flag, judgment) {
		const {on: where = []} = this.flags.find(entry => entry.value === flag) || {}
		return !where.length || where.includes(judgment)
	}

	get why() {
		const text = this.pair.whys.get(PLACE)
		return text ? JSON.parse(text) : null
	}

	// A vote that the decision stands on is another one now, or is new.
	get stale() {
		const {why, doc, pair} = this
		return (
			!!why &&
			doc.votes.some(
				({id, judgment, flags}) =>
					String(why.votes?.[id]?.[0] ?? value(pair.judgment, pair.flags)) !==
					String(value(judgment, flags)),
			)
		)
	}

	get settled() {
		return super.settled && !(this.adjudicates && (this.stale || this.doc.changed))
	}

	votes() {
		if (!this.adjudicates) return
		const {votes} = this.doc
		let keys = votes.flatMap((_, at) => [key(String(at + 1)), " "])
		if (votes.length > 3) keys = [key("1"), " … ", key(String(Math.min(9, votes.length)))]
		$("vote-keys").replaceChildren(...keys)
		say("decided", this.decision())
		$("vote-list").replaceChildren(...votes.map((vote, at) => this.voteChoice(vote, at)))
	}

	// A vote with its key and comments, as a button that takes it.
	voteChoice({id, name, judgment, flags, comments}, at) {
		const choice = button(() => this.do_vote(at), this.why?.as === id ? "current" : "")
		if (at < 9) choice.append(key(String(at + 1)), " ")
		choice.append(
			html("span", {dir: "auto"}, `${name}: `, html("b", {}, spoken([judgment, ...flags]))),
			...comments.map(([, text]) => html("em", {dir: "auto"}, text)),
		)
		return item(set(choice, {"data-vote": at}))
	}

	// How the pair was decided, in a sentence or two.
	decision() {
		const {why, doc, pair} = this
		if (!why) return "Not decided yet."
		if (this.stale) return "Decided, but a vote has changed since: decide again."
		const as = doc.votes.find(({id}) => id === why.as)?.name
		const told = {
			agreed: "Agreed by all.",
			vote: `Decided as ${as}.`,
			own: "Decided by adjudicators.",
		}[why.why]
		if (!pair.done || !doc.changed) return told
		return `${told} The rewrites have changed since: look at them, then Ctrl+Enter.`
	}

	// An annotator has changed a vote meanwhile.
	async revote() {
		const {doc} = this
		const fresh = await this.wire.peek(doc.k).catch(() => null)
		if (!fresh || this.doc !== doc) return
		Object.assign(doc, {votes: fresh.votes, changed: fresh.changed})
		this.draw()
	}

	// The rewrites: of votes, to be taken, and one's own.
	rewrites() {
		const own = inOrder(this.pair.rewrites)
		this.offers = []
		if (this.adjudicates) {
			for (const {name, rewrites = []} of this.doc.votes)
				for (const [, texts] of rewrites) this.offers.push({name, texts})
		}
		$("offer-list").replaceChildren(...this.offers.map((offer, at) => this.offerCard(offer, at)))
		$("offers").hidden = !this.offers.length
		$("rewrite-list").replaceChildren(...own.map(name => this.ownCard(name)))
		$("rewrites").hidden = !own.length
	}

	// A rewrite of an annotator, with a button that takes it into gold.
	offerCard({name, texts}, at) {
		const taken = [...this.pair.rewrites.values()].some(held => String(held) === String(texts))
		const take = button(() => this.do_take(at), "", taken ? "Taken" : "Take")
		if (at < 9) take.append(" ", key(`Shift+${at + 1}`))
		take.disabled = taken
		return card(name, texts, take)
	}

	// One's own rewrite, or that of gold.
	ownCard(name) {
		return card(
			`${this.adjudicates ? "gold, " : ""}rewrite ${name.slice(1)}`,
			this.pair.rewrites.get(name),
			button(() => this.edit(name), "", "Edit"),
			button(() => this.put(name, null), "", "Remove"),
		)
	}

	// Send a judgment; an adjudicator's has a reason: a vote that is taken, or their own.
	judge(label, held, vote) {
		const {pair} = this
		const data = {}
		const flags = vote ? held : held.filter(flag => this.allowed(flag, label)).sort()
		if (label !== pair.judgment) data.label = [pair.judgment, label]
		if (String(flags) !== String(pair.flags)) data.flags = [pair.flags, flags]
		if (!this.adjudicates) {
			if (data.label || data.flags) this.commit("judge", data)
			return
		}
		const now = pair.whys.get(PLACE) ?? null
		const votes = Object.fromEntries(
			this.doc.votes.map(({id, judgment, flags: said, seq}) => [id, [value(judgment, said), seq]]),
		)
		const after = JSON.stringify({why: vote ? "vote" : "own", ...(vote && {as: vote.id}), votes})
		if (data.label || data.flags || now !== after)
			this.commit(
				"decide",
				{...data, whys: [[-1, -1, now, after]]},
				`decided: ${spoken([label, ...flags])}${vote ? `, as ${vote.name}` : ""}`,
			)
	}

	again(event) {
		return event.kind === "decide" ? null : super.again(event)
	}

	get decided() {
		return !!(this.adjudicates ? this.why && !this.stale : this.pair.judgment)
	}

	works() {
		return {...super.works(), ready: this.decided}
	}

	ready() {
		if (this.decided) return true
		this.say(
			this.adjudicates
				? "first decide: a number takes a vote, a letter gives a label"
				: "first give a label; n goes on without",
		)
		return false
	}

	do_label(label) {
		const {pair} = this
		this.judge(pair.judgment === label ? "" : label, pair.flags)
	}

	do_flag(flag) {
		const {judgment, flags} = this.pair
		const {excludes = [], name, on: where} = this.flags.find(entry => entry.value === flag)
		if (!flags.includes(flag) && !this.allowed(flag, judgment))
			return this.say(`“${name}” needs the label ${where.join(" or ")}`)
		this.judge(
			judgment,
			flags.includes(flag)
				? flags.filter(one => one !== flag)
				: [...flags.filter(one => !excludes.includes(one)), flag],
		)
	}

	do_vote(at) {
		const vote = this.doc.votes?.[at?.key ? Number(at.key) - 1 : at]
		if (vote) this.judge(vote.judgment, vote.flags, vote)
		else this.say("there is no such vote")
	}

	do_take(at) {
		const offer = this.offers[at]
		const {pair} = this
		if (!offer) return this.say("there is no such rewrite")
		if ([...pair.rewrites.values()].some(texts => String(texts) === String(offer.texts)))
			return this.say("already taken")
		this.put(freeKey("r", pair.rewrites), [...offer.texts])
	}

	do_find() {
		if (this.adjudicates) this.late("adjudicate-pairs", ({list}) => list(this))
		else super.do_find()
	}

	do_write = () => this.edit(freeKey("r", this.pair.rewrites))

	do_edit() {
		const name = inOrder(this.pair.rewrites).at(-1)
		if (name) this.edit(name)
		else this.do_write()
	}

	edit(name) {
		const {doc, pair} = this
		const texts = pair.rewrites.get(name) || [doc.source.join(" "), doc.target.join(" ")]
		this.editing = name
		;["source", "target"].forEach((side, at) => {
			const field = set($(`new-${side}`), {dir: doc.direction?.[side] || "auto"})
			field.value = texts[at]
		})
		$("editor").hidden = false
		say("editor-title", `Rewrite ${name.slice(1)}`)
		$("new-source").focus()
	}

	kept(event) {
		event.preventDefault()
		const {doc, pair, editing} = this
		const texts = ["source", "target"].map(side => wordsOf($(`new-${side}`).value).join(" "))
		if (texts.some(text => !text)) return this.say("a text is empty: write both, or cancel")
		if (String(texts) === String([doc.source.join(" "), doc.target.join(" ")]))
			return this.say("nothing has changed: change a text, or cancel")
		this.close()
		if (String(pair.rewrites.get(editing)) !== String(texts)) this.put(editing, texts)
	}

	put(name, texts) {
		this.commit("rewrite", {rewrites: [[name, this.pair.rewrites.get(name) ?? null, texts]]})
	}

	close(focus = true) {
		$("editor").hidden = true
		if (focus) this.focus()
	}

	do_cancel = () => this.close()
}

start(wire => new Judge(wire))
