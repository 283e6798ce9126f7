/** What a test file tells scripts/test.mjs: a line of JSON for each test. */
export default async function* lines(source) {
  const path = []
  for await (const { type, data } of source) {
    const { name, nesting } = data
    if (type === 'test:start') path[nesting] = name
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { skip, todo, details } = data
    const { error } = details
    // What only says that something within it failed is no failure of its own; a suite counts when it is one.
    if (type === 'test:pass' ? details.type === 'suite' : error?.failureType === 'subtestsFailed') continue
    const skipped = (skip ?? todo) !== undefined
    const result = skipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed'
    const whole = [...path.slice(0, nesting), name].join(' > ')
    yield `${JSON.stringify({ name: whole, result, error: result === 'failed' ? textOf(error?.cause ?? error) : '' })}\n`
  }
}

/** With the stack, which begins with the message for errors that know where they were made. */
function textOf(error) {
  return typeof error?.stack === 'string' && error.stack !== '' ? error.stack : String(error)
}
