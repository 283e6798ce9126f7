import { each } from '../src/each.ts'
import { seventeen } from '../src/seventeen.ts'

each(Object.keys(seventeen).slice(9))
