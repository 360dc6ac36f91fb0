// Assign pairs to annotators: what would change is shown before it is done.
import {$, html, on, say} from "./dom.js"
import {
	api,
	below,
	cell,
	Fault,
	head,
	pageOf,
	plural,
	rows,
	toast,
	tried,
	whenSent,
} from "./manage.js"
import {called, shown} from "./names.js"
import {begin} from "./tabs.js"

const WAIT = 300
const form = $("plan")
const field = name => form.elements[name]
const number = name => Number(field(name).value)

begin(async () => {
	let seen = null
	let timer = 0
	let turn = 0
	let fixed = null
	let displays = {} // names to show, by those of accounts
	let sampling = "none" // how the size of the control sample is chosen

	const person = name => ({name, display: displays[name]})
	const shareOf = () => ({one: 0, some: number("share") / 100, two: 1})[field("by").value] ?? null
	// The choice of the form that stands for a share of pairs with two annotators; null: all.
	const byShare = share => ({null: "all", 0: "one", 1: "two"})[share] ?? "some"
	const by = value => field("by").value === value
	const fields = () => {
		$("ask").hidden = sampling !== "ask"
		$("numbers").hidden = sampling !== "numbers"
		$("some").hidden = !by("some")
		$("several").hidden = !by("each")
	}

	// The control sample of a plan; while a small project has not chosen one, none is shown.
	function sample() {
		if (sampling === "none") return {}
		if (sampling === "ask") return {control: Number(field("sample").value), control_least: 0}
		return {control: number("control") / 100, control_least: number("control_least")}
	}
	const undecided = () => sampling === "ask" && !field("sample").value

	function plan(more) {
		const names = [...form.querySelectorAll("[name=annotators]:checked")].map(({value}) => value)
		const held = fixed
			? {trial: fixed.trial, stratify: fixed.stratify, seed: fixed.seed}
			: {
					trial: number("trial"),
					stratify: [...form.querySelectorAll("[name=stratify]:checked")].map(({value}) => value),
					seed: number("seed"),
				}
		return {
			annotators: names,
			double: shareOf(),
			each: by("each") ? number("each") : null,
			...sample(),
			order: field("order").value,
			...held,
			...more,
		}
	}

	// Fill the form with the plan in force; what is drawn once stays.
	function fill(names, now) {
		fixed = now
		const all = [...new Set([...(now?.annotators ?? []), ...names])]
		$("names").replaceChildren(
			...all.map(name => {
				const box = html("input", {
					type: "checkbox",
					name: "annotators",
					value: name,
					checked: "",
					disabled: now?.annotators.includes(name) ? "" : null,
				})
				return html("label", {class: "tick"}, box, called(person(name)))
			}),
		)
		$("nobody").hidden = all.length > 0
		form.hidden = !all.length
		if (!now) return
		const {double, each, trial, control, control_least: least, order, stratify, seed} = now
		field("by").value = each ? "each" : byShare(double)
		if (each) field("each").value = each
		if (double) field("share").value = Math.round(100 * double)
		if (control !== null) field("control").value = Math.round(100 * control)
		if (least !== null) field("control_least").value = least
		if (![...field("order").options].some(({value}) => value === order))
			field("order").append(html("option", {value: order}, order))
		field("order").value = order
		Object.assign(field("trial"), {value: trial, disabled: true})
		Object.assign(field("seed"), {value: seed, disabled: true})
		for (const box of form.querySelectorAll("[name=stratify]")) {
			Object.assign(box, {checked: stratify.includes(box.value), disabled: true})
		}
	}

	const row = ({annotator, pairs, new: added, alone, shared, hidden}) => [
		head(...shown(person(annotator))),
		cell(String(pairs - added)),
		cell(added ? html("b", {}, `+${added}`) : html("span", {class: "quiet"}, "0")),
		cell(String(alone)),
		cell(String(shared)),
		cell(String(hidden)),
	]

	function show(answer) {
		seen = answer
		const {shares, new: added, pairs, warnings, hiding} = answer
		rows($("shares"), shares, row, "annotator")
		say("assign", added ? `Assign ${plural(pairs, "pair")}` : "Assign")
		$("assign").disabled = !added || undecided()
		let note = fixed ? "What is assigned stays." : ""
		if (undecided()) note = "Choose whether there is a control sample."
		say("note", added ? note : "Everything is assigned.")
		say("hiding", hiding)
		$("warnings").replaceChildren(...warnings.map(text => html("li", {}, text)))
		movable(shares)
	}

	// Ask what would change; an answer that was overtaken is dropped.
	async function ask() {
		clearTimeout(timer)
		const mine = ++turn
		const part = $("problem")
		seen = null
		$("assign").disabled = true
		try {
			const answer = await api("POST", below("assign"), plan({dry_run: true}))
			if (mine !== turn) return
			part.textContent = ""
			show(answer)
		} catch (fault) {
			if (!(fault instanceof Fault)) throw fault
			if (mine === turn) part.textContent = fault.message
		}
	}
	const later = () => {
		fields()
		$("assign").disabled = true
		clearTimeout(timer)
		timer = setTimeout(ask, WAIT)
	}

	const free = ({pairs, new: added, begun, done}) => pairs - added - Math.max(begun, done)

	function movable(shares) {
		const held = shares.filter(share => share.pairs > share.new)
		const from = $("from").value
		const to = $("to").value
		$("move").hidden = !held.length
		$("from").replaceChildren(
			...held
				.filter(free)
				.map(share =>
					html(
						"option",
						{value: share.annotator, "data-free": free(share)},
						`${called(person(share.annotator))}, ${free(share)}`,
					),
				),
		)
		if ([...$("from").options].some(({value}) => value === from)) $("from").value = from
		const others = shares.map(({annotator}) => annotator).filter(name => name !== $("from").value)
		$("to").replaceChildren(
			...others.map(name => html("option", {value: name}, called(person(name)))),
			html("option", {value: ""}, "nobody"),
		)
		if ([...$("to").options].some(({value}) => value === to)) $("to").value = to
		counted()
	}

	function counted() {
		const most = Number($("from").selectedOptions[0]?.dataset.free ?? 0)
		$("count").max = Math.max(most, 1)
		say("go", `Move ${plural(Number($("count").value), "pair")}`)
		$("go").disabled = !most
	}

	async function move(from, to, count, pairs) {
		const done = await api("POST", below("move"), {
			from,
			to: to || null,
			count,
			...(pairs && {pairs}),
		})
		await ask()
		return done
	}

	async function load() {
		const [{people}, {now, control}] = await Promise.all([
			api("GET", below("people")),
			api("GET", below("assign")),
		])
		sampling = control
		displays = Object.fromEntries(people.map(({name, display}) => [name, display]))
		fill(
			people
				.filter(
					({role, annotates, state}) => state !== "closed" && (role === "annotator" || annotates),
				)
				.map(({name}) => name),
			now,
		)
		fields()
		if (!form.hidden) await ask()
	}

	$("invite").href = pageOf("people")
	on(form, "input", later)
	on($("from"), "change", () => {
		if (seen) movable(seen.shares)
	})
	on($("count"), "input", counted)
	on($("assign"), "click", () =>
		tried(async () => {
			const {pairs} = seen
			await api("POST", below("assign"), plan({plan: seen.plan}))
			await load()
			toast(`${plural(pairs, "pair")} assigned.`)
		}, ask),
	)
	whenSent($("move"), async () => {
		const from = $("from").value
		const to = $("to").value
		const {count, pairs, text} = await move(from, to, Number($("count").value))
		toast(text || `${plural(count, "pair")} moved.`, () => move(to, from, count, pairs))
	})
	await load()
})
