/** Where `volant dev` can be tested, and what each of its files does with a project. */
import { createApp } from 'volant'
import { Project } from './project.ts'

export const isNative = createApp({ signals: false }).adapterName === 'native'

export const skip = isNative ? false : 'the native engine is not there'

export async function withProject(run: (project: Project) => Promise<void>): Promise<void> {
  const project = await Project.make()
  try {
    await run(project)
  } catch (error) {
    console.error(project.output)
    throw error
  } finally {
    await project.end()
  }
}
