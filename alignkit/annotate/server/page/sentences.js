// Where sentences end: not behind abbreviations, initials and ordinals, which Intl.Segmenter takes
// for ends.

// Those that something follows, in languages that write from left to right with capitals; none is a
// word as well.
const SHORT = new Set(
	`mr mrs ms mx messrs dr drs prof st ste sgt capt lt col gen gov sen rep rev hon cmdr maj vs cf
viz approx dept univ fig figs pp vol ibid e.g i.e hr fr nr str ca bzw vgl evtl ggf inkl bspw sog
geb gest bd z.b d.h u.a o.ä i.d.r z.t hrn mme mlle mgr env p.ex sr sra srta dra ud uds avda p.ej
sig dott avv dhr mevr bijv o.a d.w.z resp tzv např ing ul św np tzn im prof им ул гг г проф акад
напр т.е т.к т.н`.split(/\s+/),
)
const MAY_END = /^(etc|usw|ecc|inc|ltd|co|corp|jr)$/ // as well
// What begins a sentence behind a name like "U.S.", which mostly goes on.
const PRONOUN = /^(I|You|He|She|It|We|They|His|Her|Their|This|That|These|There)\b/u
const SMALL = /^(The|An?|In|On|At|As|If|For|When|But|And|So|However)\b/u
const ORDINALS = /^(da|de|et|fi|fo|hr|hu|is|lv|nb|nn|no|cs|pl|sk|sl|sr|tr)\b/
const LETTER = /^(?!\p{sc=Han}|\p{sc=Hira}|\p{sc=Kana})\p{L}\p{M}*$/u

// Does a sentence end between two parts of a line? `known` are the abbreviations that the text
// itself tells of.
function ends(before, after, language, known) {
	if (/^[\s\p{Pd}]*\p{Ll}/u.test(after)) return false // “Go!” – he said.
	const word = /(?:^|[\s\p{Pi}\p{Ps}"'])([\p{L}\p{M}\p{N}.]+)\.\s*$/u.exec(before)?.[1]
	if (!word) return true
	if (SHORT.has(word.toLowerCase()) || known.has(word)) return false
	if (LETTER.test(word)) return word === "I" // John D. Smith; "z. B.", "د. أحمد"
	if (/^(\p{Lu}\.)+\p{Lu}$/u.test(word)) return PRONOUN.test(after) || SMALL.test(after)
	return !(
		/^\d{1,2}$/.test(word) &&
		(ORDINALS.test(language || "") || /^\s*\d+\.\s*$/.test(before))
	) // "am 3. Mai"; "1. Introduction"
}

// Keep those starts of a line's sentences, as found, behind which nothing but a sentence can have
// ended.
export const starting = (line, starts, language, known) =>
	starts.filter(
		at =>
			!at || ends(line.slice(Math.max(0, at - 60), at), line.slice(at, at + 60), language, known),
	)

// Short words that a text writes with a full stop before a small letter.
export const abbreviated = text =>
	new Set(
		Array.from(
			text.matchAll(/(?:^|[^\p{L}.])(\p{L}{1,5})\.\s+\p{Ll}/gu),
			([, word]) => word,
		).filter(word => !MAY_END.test(word.toLowerCase())),
	)
