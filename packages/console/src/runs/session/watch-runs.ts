import { Signal } from '../../ui/watched.ts'

/** Notifies the parts of the page that show runs when a run of this tab begins, changes or ends. */
export const { watch: watchRuns, notify: announce } = new Signal()
