// Plan the keys with which an annotator who knows the gold annotates a pair, from the page's own
// rules: run in a browser that can import them. Says how many words one must look at, and how many
// links would be wrong or missing if the annotator trusted what the page does not stop at.
;async ({doc, gold, least}) => {
	const [{Pair}, {Route, sideOf}] = await Promise.all(
		["model", "route"].map(name => import(`/page/${name}.js`)),
	)
	const pair = new Pair(doc)
	const side = sideOf(pair, least)
	const route = new Route(pair, side, least)
	const goals = Array.from({length: route.count}, () => new Map())
	for (const [i, j, value] of gold) {
		const [at, other] = route.words([i, j])
		goals[at].set(other, value)
	}
	const keys = []
	const marks = {} // how often which kind of key is pressed
	let stops = 0
	let missed = null

	const links = at => new Map([...route.shown(at)].filter(([other]) => other < route.others))
	const same = (a, b) => a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
	const wrong = () => goals.map((_, at) => at).filter(at => !same(links(at), goals[at]))
	const spelled = code => [...code]
	const switched = code => [...code].map(letter => `Shift+${letter.toUpperCase()}`)

	// The keys that give a word its links.
	const keysAt = at => {
		const goal = goals[at]
		const shown = links(at)
		if (same(shown, goal)) return ["Enter"]
		if (!goal.size) return ["Backspace"]
		const digit = new Map(route.candidates(at).map((other, k) => [other, k + 1]))
		const code = route.letters(at, false)
		const taken = other => route.strength(at, other)
		const plain = [...goal].every(([other, value]) => taken(other) === value)
		const ways = []
		if (plain && goal.size === 1) {
			const [other] = goal.keys()
			ways.push(digit.has(other) ? [`Digit${digit.get(other)}`] : ["i", ...spelled(code[other])])
		}
		const before = route.before(at)
		if (before && same(before, goal)) ways.push(["e"])
		ways.push([...switches(at, goal, shown, digit, code), "Enter"])
		return ways.sort((a, b) => a.length - b.length)[0]
	}

	// The keys that switch candidates one by one; after each, `d` or `s` acts on it alone.
	const switches = (at, goal, shown, digit, code) => {
		const steps = []
		const kept = [...goal.keys()].filter(other => shown.has(other))
		const values = new Set(kept.map(other => goal.get(other)))
		const [whole] = values
		const all = values.size === 1 && kept.some(other => shown.get(other) !== whole)
		if (all) steps.push(whole === 1 ? "d" : "s")
		for (const other of new Set([...shown.keys(), ...goal.keys()])) {
			const wanted = goal.get(other)
			const on = all && shown.has(other) ? whole : shown.get(other)
			if (wanted === on) continue
			if (digit.has(other)) steps.push(`Shift+Digit${digit.get(other)}`)
			else steps.push("i", ...switched(code[other]))
			const made = on ? undefined : route.strength(at, other)
			if (wanted && wanted !== made) steps.push(wanted === 1 ? "d" : "s")
		}
		return steps
	}

	const press = pressed => {
		keys.push(...pressed)
		for (const key of pressed) {
			const kind = /^(Shift\+)?Digit/.exec(key)?.[0] ?? key
			marks[kind] = (marks[kind] ?? 0) + 1
		}
	}

	const settle = at => {
		press(keysAt(at))
		const data = route.settle(at, goals[at])
		if (data) pair.apply({kind: "edit", data})
		route.update(pair)
	}

	let at = route.isStop(0) ? 0 : route.next(0)
	let last = at ?? 0
	for (let guard = 0; guard < 5000; guard++) {
		if (at === undefined) {
			const bad = wrong()
			missed ??= bad.reduce((sum, word) => sum + misses(links(word), goals[word]), 0)
			if (!bad.length) break
			at = bad[0]
			press(["m", ...spelled(route.letters(last, true)[at])])
		} else stops++
		last = at
		settle(at)
		at = route.next(at)
	}
	press(["Control+Enter"])
	return {keys, stops, missed, marks, side, wrong: wrong().length}

	function misses(held, goal) {
		const missing = [...goal.keys()].filter(other => !held.has(other)).length
		return missing + [...held.keys()].filter(other => !goal.has(other)).length
	}
}
