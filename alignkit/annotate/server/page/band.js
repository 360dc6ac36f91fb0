// The band above the matrix: both sentences as text that wraps, each in its own language and
// direction. Where each fits in one line, curves join them.
import {html, on, set} from "./dom.js"

const SIDES = ["source", "target"]
const SHARE = 0.4 // of band and matrix: whole sentences that need more are not shown whole
const MOST_LINES = 3 // of a sentence that is not shown whole
const WIDER = 7 // pixels: what gaps get where there are curves
const NEAR = 12 // pixels: a word that is further away is not meant
const SLACK = 4 // pixels: a pointer that moves further selects text
const BELOW = 2 // pixels under the last line, for the frame of a word

// What stands close to the word before it.
const CLOSING = /^[\p{Terminal_Punctuation}\p{Pe}\p{Pf}…%٪]+$/u
// Scripts that write no spaces between words.
const DENSE =
	/[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Mymr}\u3000-\u303f\uff00-\uff65]/u

export class Band {
	// `told` has hover(word or null) and pick(side, at), of words as [0 for source or 1 for target,
	// place]; `curves` draws between the sentences, where there are any.
	constructor(root, told, curves) {
		Object.assign(this, {root, told, curves})
		this.page = root.firstElementChild
		this.sentences = [...root.querySelectorAll(".sentence")]
		this.button = root.querySelector("button")
		this.hovered = null
		on(this.button, "click", () => this.toggle())
		for (const [x, sentence] of this.sentences.entries())
			on(sentence, "scroll", () => this.#scrolled(x), {passive: true})
		on(root, "pointerdown", ({clientX, clientY}) => {
			this.down = [clientX, clientY]
		})
		on(root, "click", event => this.#clicked(event))
		on(root, "pointermove pointerleave", event => this.#pointed(event))
	}

	// Show the sentences of a pair; `directions` and `languages` are those of source and target.
	load(pair, directions, languages) {
		this.close()
		this.hovered = null
		this.words = this.sentences.map((sentence, x) => {
			set(sentence, {dir: directions[x], lang: languages[x]})
			return fill(sentence, pair[SIDES[x]])
		})
		this.kinds = this.words.map(words => words.map(() => ""))
		this.grounds = this.words.map(words => words.map(() => ""))
		const leftwards = directions.filter(direction => direction === "rtl").length
		this.root.classList.toggle("rtl", leftwards === 2)
		this.knot = leftwards === 1
		this.#measure()
	}

	// How many lines are shown, and where words are: read once for each pair and width.
	#measure() {
		const {root, page, sentences} = this
		root.classList.remove("curved", "long")
		for (const sentence of sentences) sentence.style.maxHeight = ""
		root.hidden = true
		const room = document.querySelector("main").offsetHeight
		root.hidden = false
		this.high = Number.parseFloat(getComputedStyle(sentences[0]).lineHeight)
		this.lines = this.#count()
		this.seen = this.lines
		if (page.offsetHeight > SHARE * room) {
			const around = page.offsetHeight - this.high * (this.lines[0] + this.lines[1])
			root.classList.add("long") // room for the button at the end of the text
			this.lines = this.#count()
			this.seen = this.#share((room / 2 - around) / this.high / 2)
		} else if (this.curves && this.#fitsWider()) root.classList.add("curved")
		const all = this.lines[0] + this.lines[1]
		this.long = this.seen[0] + this.seen[1] < all
		root.classList.toggle("long", this.long)
		this.more = `all ${all} lines`
		this.button.hidden = !this.long
		this.first = [0, 0] // the first lines in sight
		for (const x of sentences.keys()) this.#limit(x)
		this.places = this.words.map((words, x) => boxesIn(words, sentences[x]))
		this.curves?.load(root.classList.contains("curved") ? this.places : null, this.knot)
		this.toggle(false)
	}

	#count() {
		return this.sentences.map(sentence => Math.round(sentence.scrollHeight / this.high))
	}

	// The lines of each sentence where not all have room: one that has fewer leaves its own to the
	// other.
	#share(room) {
		const most = Math.max(1, Math.min(MOST_LINES, Math.floor(room)))
		return this.lines.map((count, x) => {
			const left = Math.max(0, most - this.lines[1 - x])
			return Math.min(count, most + left)
		})
	}

	// Make a sentence scroll that has more lines than are shown.
	#limit(x) {
		const sentence = this.sentences[x]
		const scrolls = this.seen[x] < this.lines[x]
		sentence.style.maxHeight = scrolls ? `${this.seen[x] * this.high + BELOW}px` : ""
		set(sentence, {tabindex: scrolls ? 0 : null})
		sentence.scrollTop = 0
	}

	// Has each sentence one line, even with wider gaps?
	#fitsWider() {
		return this.sentences.every((sentence, x) => {
			if (this.lines[x] !== 1) return false
			const boxes = boxesIn(this.words[x], sentence).flat()
			const left = Math.min(...boxes.map(box => box.left))
			const right = Math.max(...boxes.map(box => box.right))
			const gaps = sentence.textContent.split(" ").length - 1
			return right - left + gaps * WIDER <= sentence.clientWidth
		})
	}

	// Give words their marks: for each sentence the classes of its words, and what is drawn behind
	// them, if that differs from word to word.
	mark(kinds, grounds) {
		for (const [x, words] of this.words.entries()) {
			for (const [at, word] of words.entries()) {
				const kind = kinds[x][at]
				if (this.kinds[x][at] !== kind) {
					this.kinds[x][at] = kind
					word.className = kind
				}
				const ground = grounds?.[x][at] ?? ""
				if (this.grounds[x][at] !== ground) {
					this.grounds[x][at] = ground
					word.style.background = ground
				}
			}
		}
	}

	// Write digits or letters behind words: for each sentence a map from the place of a word to [sign,
	// kind]. A sentence that is `spelled` (0 or 1) turns pale.
	sign(signs, spelled) {
		for (const [x, words] of this.words.entries()) {
			this.sentences[x].classList.toggle("spelled", x === spelled)
			for (const [at, word] of words.entries()) {
				const [sign, kind] = signs[x].get(at) ?? []
				if (word.dataset.sign === sign && word.dataset.kind === kind) continue
				set(word, {"data-sign": sign, "data-kind": kind})
			}
		}
	}

	// Bring the cursor's words into sight, with a line before and behind; the sentence that was
	// clicked stays under the pointer.
	follow(cursor, clicked) {
		for (const [x, sentence] of this.sentences.entries()) {
			const box = this.places[x][cursor[x]]?.[0]
			const seen = this.seen[x]
			if (!box || x === clicked || seen === this.lines[x]) continue
			const line = Math.floor(box.top / this.high + 0.5)
			const beside = seen < MOST_LINES ? 0 : 1
			let first = Math.max(this.first[x], line + beside - seen + 1)
			first = Math.min(first, line - beside, this.lines[x] - seen)
			first = Math.max(first, 0)
			if (first === this.first[x]) continue
			this.first[x] = first
			sentence.scrollTop = first * this.high
		}
	}

	#scrolled(x) {
		this.first[x] = Math.round(this.sentences[x].scrollTop / this.high)
	}

	// Show all lines over the matrix, or fewer again.
	toggle(open = !this.open) {
		const {root, button} = this
		this.open = open
		root.style.height = open ? `${root.offsetHeight}px` : ""
		root.classList.toggle("open", open)
		button.textContent = open ? "fewer lines" : this.more
		set(button, {"aria-expanded": open})
		if (open) return
		for (const [x, sentence] of this.sentences.entries())
			sentence.scrollTop = this.first[x] * this.high
	}

	close() {
		if (this.open) this.toggle(false)
	}

	// The word at a point of the window, of two words beside it the nearer; null where there is none.
	wordAt(clientX, clientY) {
		for (const [x, sentence] of this.sentences.entries()) {
			const {left, top, bottom} = sentence.getBoundingClientRect()
			if (clientY < top || clientY > bottom) continue
			const line = Math.floor((clientY - top + sentence.scrollTop) / this.high)
			let [nearest, least] = [null, NEAR]
			for (const [at, boxes] of this.places[x].entries()) {
				for (const box of boxes) {
					if (Math.floor(box.top / this.high + 0.5) !== line) continue
					const away = Math.max(box.left + left - clientX, clientX - box.right - left, 0)
					if (away < least) [nearest, least] = [[x, at], away]
				}
			}
			return nearest
		}
		return null
	}

	#pointed({type, pointerType, buttons, clientX, clientY, target}) {
		if (pointerType === "touch") return
		const points = type === "pointermove" && !buttons && target !== this.button
		this.point = points ? [clientX, clientY] : null
		this.looking ??= requestAnimationFrame(() => {
			this.looking = null
			const word = this.point && this.words ? this.wordAt(...this.point) : null
			if (String(word) === String(this.hovered)) return
			this.hovered = word
			this.told.hover(word)
		})
	}

	// Dragging selects text: it is no click.
	#clicked({clientX, clientY, target, detail}) {
		if (target === this.button || !detail || !this.words) return
		const [x, y] = this.down ?? [clientX, clientY]
		if (Math.hypot(clientX - x, clientY - y) > SLACK) return
		getSelection().removeAllRanges() // a second click on a word would select it
		const word = this.wordAt(clientX, clientY)
		if (word) this.told.pick(...word)
	}
}

// Put words into a sentence, with what stands between them; return their elements.
function fill(sentence, words) {
	const parts = []
	const elements = words.map((word, at) => {
		const [join, between] = joint(words[at - 1], word)
		const tight = CLOSING.test(words[at + 1] ?? "") ? "" : null // no room for a sign behind it
		const element = html("span", {"data-join": join, "data-tight": tight}, word)
		parts.push(...between, element)
		return element
	})
	sentence.replaceChildren(...parts)
	return elements
}

// How a word is joined to the one before it, and what stands between them. A word is no place to
// break a line where there is neither a space nor a <wbr>.
function joint(before, word) {
	if (before === undefined) return [null, []]
	if (CLOSING.test(word)) return ["closing", []]
	if (DENSE.test(before.at(-1)) && DENSE.test(word[0])) return ["dense", [html("wbr")]]
	return [null, [" "]]
}

// The boxes of words within their sentence: several where a word is broken.
function boxesIn(words, sentence) {
	const at = sentence.getBoundingClientRect()
	return words.map(word =>
		Array.from(word.getClientRects(), ({left, right, top}) => ({
			left: left - at.left,
			right: right - at.left,
			top: top - at.top + sentence.scrollTop,
		})),
	)
}
