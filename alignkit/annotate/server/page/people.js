// The people of a project: invite, roles, links.
import {$, button, html} from "./dom.js"
import {menu} from "./menu.js"
import {
	api,
	bar,
	below,
	cell,
	choice,
	date,
	head,
	once,
	plural,
	question,
	table,
	tick,
	toast,
	tried,
	when,
	whenSent,
} from "./manage.js"
import {trained} from "./trained.js"
import {accountName, called, propose, shown} from "./names.js"
import {begin, seenAgain} from "./tabs.js"

const ROLES = ["owner", "adjudicator", "annotator", "reader"].map(role => [role, role])
const at = name => below(`people/${encodeURIComponent(name)}`)
const a = role => `${role === "reader" ? "a" : "an"} ${role}`

begin(async me => {
	const list = table($("people"), get, row)
	const {load, again} = list
	let training = null // the training round, and how far each is

	async function get() {
		const answer = await api("GET", below("people"))
		training = answer.training
		$("training").hidden = !training
		const known = new Set(answer.people.map(({name}) => name))
		const others = answer.others
			.filter(name => !known.has(name))
			.map(name => ({
				name,
				role: "none",
				state: stateOf(name, answer),
				pairs: 0,
				done: 0,
				seen: "",
			}))
		return [...answer.people, ...others].map(withTraining)
	}

	// The state of an annotator of the corpus without a role here.
	function stateOf(name, {known, asked, refused}) {
		if (asked.includes(name)) return "asked"
		if (refused.includes(name)) return "not theirs"
		return known.includes(name) ? "imported" : "no account"
	}

	// Put a role and whether somebody also annotates; the toast offers what was before.
	async function put({name, etag}, role, annotates) {
		const now = await api("PUT", at(name), {role, annotates, etag})
		list.put(withTraining(now))
		return now
	}
	const change = (person, role, annotates, said) =>
		tried(async () => {
			const now = await put(person, role, annotates)
			toast(said, () => put(now, person.role, person.annotates))
		}, again)

	async function remove({name, role, annotates, etag}) {
		const {pairs} = await api("DELETE", `${at(name)}?etag=${encodeURIComponent(etag)}`)
		const back = pairs.length
		await load()
		const returned = `${plural(back, "pair")} not begun ${back === 1 ? "returns" : "return"} to nobody.`
		toast(`${name} was removed.${back ? ` ${returned}` : ""}`, async () => {
			await api("PUT", at(name), {role, annotates, etag: ""})
			if (back) await api("POST", below("move"), {from: "", to: name, count: back, pairs})
			await load()
		})
	}

	async function link(values) {
		const who = called(values)
		const {url, expires, added} = await api("POST", below("links"), values)
		await load()
		if (added) return toast(`${who} has an account, and is now ${a(values.role)} here.`)
		once(
			$("link"),
			url,
			`Send this to ${who}. It works once, until ${date(expires)}, and is shown only now.`,
		)
	}

	const reset = ({name, role}) =>
		question({
			title: `A new password for ${name}?`,
			text: `You get a link for ${name}. When it is used, other sessions and all tokens of ${name} end.`,
			yes: "Create link",
			act: () => link({name, kind: "reset", role}),
		})
	const signOut = ({name}) =>
		question({
			title: `Sign ${name} out everywhere?`,
			text: "Unsent edits are kept in the browsers.",
			yes: `Sign ${name} out`,
			act: async () => {
				await api("DELETE", `${at(name)}/sessions`)
				toast(`${name} is signed out everywhere.`)
			},
		})

	async function withdraw({name, role, link: id}) {
		await api("DELETE", below(`links/${id}`))
		await load()
		toast(`The link for ${name} is withdrawn.`, () => link({name, kind: "invite", role}))
	}

	// An account has the name of an imported annotator: the person is asked whether they are the
	// same, or the imported one gets a new name.
	async function same({name}) {
		const now = await api("PUT", at(name), {role: "annotator", etag: "", same: true})
		await load()
		toast(
			now
				? `${name} is now an annotator here, with the imported work.`
				: `${name} is asked whether the imported work is theirs.`,
		)
	}
	const rename = ({name}) =>
		question({
			title: `Rename the imported ${name}`,
			text: `The work of the imported ${name} gets this name.`,
			label: "New name",
			yes: "Rename",
			act: async now => {
				const account = accountName(now) || now
				await api("PATCH", at(name), {name: account})
				await load()
				toast(`The imported ${name} is now ${account}.`)
			},
		})

	function invite({name}) {
		$("display").value = name
		$("name").value = name
		$("role").focus()
	}

	function done({name, role, pairs, done: count, state}) {
		if (state === "invited" || role === "none") return [html("span", {class: "pill"}, state)]
		if (pairs) return [bar(count, pairs, `${name}, done`), ` ${count} of ${pairs}`]
		return [role === "adjudicator" && count ? `${count} settled` : "–"]
	}

	const lineOf = name => training?.lines.find(line => line.name === name)

	// A row is drawn anew only if something in it is another one.
	function withTraining(person) {
		return {...person, training: lineOf(person.name)}
	}

	function trainingOf({training: line}) {
		if (!training) return []
		return [cell(line ? trained(line, training.pairs.length) : "–")]
	}

	// Let somebody begin who has not passed, or ask for the training after all.
	async function admit(name, admitted) {
		await api("PUT", `${at(name)}/training`, {admitted})
		await load()
		const said = admitted ? "may begin without having passed" : "has to pass the training round"
		toast(`${name} ${said}.`, () => admit(name, !admitted))
	}

	// What can be done about somebody's training.
	function trainingActs(name) {
		const line = lineOf(name)
		if (["failed", "open", "not begun"].includes(line?.state))
			return [["Let begin without passing", () => tried(() => admit(name, true), load)]]
		if (line?.state === "by hand")
			return [["Train first", () => tried(() => admit(name, false), load)]]
		return []
	}

	function roleOf(person) {
		const {name, role, annotates, state} = person
		const self = name === me.account
		if (state !== "open") return [role === "none" ? "–" : role]
		const select = choice(`Role of ${name}`, ROLES, role, value =>
			change(person, value, false, `${name} is now ${a(value)}.`),
		)
		select.disabled = self
		if (role !== "owner" && role !== "adjudicator") return [select]
		const said = annotates ? `${name} no longer annotates.` : `${name} also annotates.`
		return [
			select,
			tick(
				"also annotates",
				annotates,
				value => change(person, role, value, said),
				`${name} also annotates`,
			),
		]
	}

	function acts(person) {
		const {name, state, role} = person
		const renew = button(() => tried(() => link({name, kind: "invite", role})), "plain", "New link")
		if (state === "no account")
			return accountName(name) === name
				? [button(() => invite(person), "plain", "Invite")]
				: [button(() => rename(person), "plain", "Rename")] // no account can have this name
		if (["imported", "asked", "not theirs"].includes(state)) {
			const renames = button(() => rename(person), "plain", "Rename the imported one")
			if (state === "asked") return [renames]
			return [button(() => tried(() => same(person), load), "plain", "Same person"), renames]
		}
		if (state === "invited") {
			if (!person.link) return [renew]
			return [renew, button(() => tried(() => withdraw(person), load), "plain", "Withdraw")]
		}
		const trains = trainingActs(name)
		const more = acts => [menu("···", `More about ${name}`, acts)]
		if (name === me.account) return trains.length ? more(trains) : []
		const acts = [["Remove from project", () => tried(() => remove(person), again), "bad"]]
		if (state === "open")
			acts.unshift(
				["New password link", () => reset(person)],
				["Sign out everywhere", () => signOut(person)],
			)
		return more([...trains, ...acts])
	}

	function row(person) {
		const {name, state, seen, expires, link: id} = person
		let last = ""
		if (state === "invited") last = id ? `until ${date(expires)}` : "the link has expired"
		else if (state === "closed") last = "closed"
		else if (state === "open") last = when(seen)
		return [
			head(...shown(person), name === me.account ? ", you" : ""),
			cell(...roleOf(person)),
			cell(...done(person)),
			...trainingOf(person),
			html("td", {class: "quiet"}, last),
			html("td", {class: "acts"}, ...acts(person)),
		]
	}

	propose($("display"), $("name"))
	whenSent($("invite"), async ({display, name, role}) => {
		const account = name.trim().toLowerCase()
		await link({name: account, display: display.trim(), kind: "invite", role})
		$("invite").reset()
	})
	await load()
	if ($("people").rows.length === 1) $("display").focus()
	seenAgain(load)
})
