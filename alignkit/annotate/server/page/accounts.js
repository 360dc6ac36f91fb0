// The accounts of the lab, for its owners.
import {$, html} from "./dom.js"
import {menu} from "./menu.js"
import {api, cell, choice, head, question, table, tick, toast, tried, when} from "./manage.js"
import {shown} from "./names.js"
import {begin, seenAgain} from "./tabs.js"

begin(async me => {
	const list = table($("accounts"), async () => (await api("GET", "accounts")).accounts, row)
	const {load, again} = list

	async function put({name, etag}, change, said, undo) {
		const now = await api("PATCH", `accounts/${encodeURIComponent(name)}`, {etag, ...change})
		list.put(now)
		if (said) toast(said, undo && (() => put(now, undo)))
	}
	const change = (account, values, undo, said) =>
		tried(() => put(account, values, said, undo), again)
	const close = ({name, ...rest}) =>
		question({
			title: `Close the account of ${name}?`,
			text: `Sessions and tokens of ${name} end. Their work stays. You can reopen the account.`,
			yes: "Close account",
			bad: true,
			act: () => put({name, ...rest}, {state: "closed"}, `The account of ${name} is closed.`),
		})

	function row(account) {
		const {name, rank, may_create: may, state, seen, projects} = account
		const own = name === me.account
		const closed = state === "closed"
		const ranks = choice(
			`Rank of ${name}`,
			[
				["owner", "owner"],
				["member", "member"],
			],
			rank,
			value =>
				change(
					account,
					{rank: value},
					{rank},
					`${name} is now ${value === "owner" ? "an owner of the lab" : "a member"}.`,
				),
		)
		ranks.disabled = own || closed
		const box = tick(
			"",
			may || rank === "owner",
			value =>
				change(
					account,
					{may_create: value},
					{may_create: may},
					value ? `${name} may create projects.` : `${name} may no longer create projects.`,
				),
			`${name} may create projects`,
		)
		box.firstChild.disabled = closed || rank === "owner"
		const act = closed
			? [
					"Reopen account",
					() =>
						change(account, {state: "open"}, undefined, `The account of ${name} is open again.`),
				]
			: ["Close account", () => close(account), "bad"]
		return [
			head(...shown(account), own ? ", you" : ""),
			cell(ranks),
			cell(box),
			cell(String(projects)),
			html(
				"td",
				{class: "quiet"},
				state === "open" ? when(seen) : html("span", {class: "pill"}, state),
			),
			html("td", {class: "acts"}, own ? "" : menu("···", `More about ${name}`, [act])),
		]
	}
	await load()
	seenAgain(load)
})
