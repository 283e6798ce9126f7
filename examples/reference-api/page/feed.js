'use strict'

/**
 * Calls `show` with the figures of each second, and `tell` with where they come from: `events`, `polling`, `again` while
 * it connects anew, since a worker that is replaced closes its streams, or `away` while the service does not answer.
 * Where events do not arrive, it asks once a second.
 */
window.follow = (show, tell) => {
  const patience = 5000
  /** Another worker takes over sooner. */
  const pause = 3000
  let polls = false
  let timer
  let source
  let silence
  let lost
  if (typeof EventSource === 'undefined') return give()
  const instead = setTimeout(give, patience)
  connect()

  function connect() {
    source = new EventSource('/live/events')
    source.addEventListener('figures', ({ data }) => {
      for (const each of [instead, lost, silence]) clearTimeout(each)
      lost = undefined
      // A worker that is blocked keeps its connections; a new one leads to another worker.
      silence = setTimeout(again, patience)
      polls = false
      show(JSON.parse(data))
      tell('events')
    })
    source.addEventListener('error', () => {
      lose()
      // It connects again by itself, unless it was refused.
      if (source.readyState === EventSource.CLOSED) give()
    })
  }

  function again() {
    if (polls) return
    lose()
    source.close()
    connect()
    silence = setTimeout(again, patience)
  }

  function lose() {
    if (polls || lost !== undefined) return
    tell('again')
    lost = setTimeout(() => polls || tell('away'), pause)
  }

  /** Asks from now on, until events arrive after all. */
  function give() {
    if (polls) return
    polls = true
    clearTimeout(timer)
    void poll()
  }

  async function poll() {
    if (!polls) return
    if (!document.hidden) {
      try {
        const reply = await fetch('/live/figures', {
          cache: 'no-store',
          signal: AbortSignal.timeout(patience),
        })
        if (!reply.ok) throw new Error(`status ${reply.status}`)
        const figures = await reply.json()
        if (!polls) return
        show(figures)
        tell('polling')
      } catch {
        if (!polls) return
        tell('away')
      }
    }
    timer = setTimeout(poll, 1000)
  }
}
