'use strict'

/**
 * Calls `show` with the figures of each second, and `tell` with where they come from: `events`, `polling`, or `away`
 * while the service does not answer. Where events do not arrive, it asks once a second.
 */
window.follow = (show, tell) => {
  const patience = 5000
  /** What was asked for last: the rates are differences. */
  let last = null
  let polls = false
  let timer
  if (typeof EventSource === 'undefined') return give()
  const source = new EventSource('/live/events')
  const instead = setTimeout(give, patience)
  source.addEventListener('figures', ({ data }) => {
    clearTimeout(instead)
    polls = false
    show(JSON.parse(data))
    tell('events')
  })
  source.addEventListener('error', () => {
    if (!polls) tell('away')
    // It connects again by itself, unless it was refused.
    if (source.readyState === EventSource.CLOSED) give()
  })

  /** Asks from now on, until events arrive after all. */
  function give() {
    if (polls) return
    polls = true
    last = null
    clearTimeout(timer)
    void poll()
  }

  async function poll() {
    if (!polls) return
    if (!document.hidden) {
      try {
        const reply = await fetch('/metrics.json', {
          cache: 'no-store',
          signal: AbortSignal.timeout(patience),
        })
        if (!reply.ok) throw new Error(`status ${reply.status}`)
        const figures = withRates(await reply.json())
        if (!polls) return
        show(figures)
        tell('polling')
      } catch {
        if (!polls) return
        last = null
        tell('away')
      }
    }
    timer = setTimeout(poll, 1000)
  }

  function withRates(figures) {
    const now = performance.now()
    const { server, cpu } = figures
    const seconds = last === null ? 0 : (now - last.now) / 1000
    // A restarted server begins to count anew.
    const counts = last !== null && server.requests >= last.requests
    const used = cpu.user + cpu.system
    const rates = {
      rate: counts ? (server.requests - last.requests) / seconds : null,
      load: counts ? (used - last.used) / seconds : null,
    }
    last = { now, requests: server.requests, used }
    return { ...figures, ...rates, streams: null }
  }
}
