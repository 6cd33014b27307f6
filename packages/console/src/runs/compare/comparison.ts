/** Several runs of a prompt with the same inputs. They outlive the pane that shows them, as its own run does. */
import { stet } from '../../app/session.ts'
import { type RunRequest, RunSession } from '../session/run-session.ts'
import { announce } from '../session/watch-runs.ts'
import { type Arm, mostArms, readArms } from './arms.ts'

export interface Column {
  /** Stays the same while columns before it are removed. */
  id: number
  arm: Arm
  session: RunSession
}

const comparisons = new Map<string, Comparison>()
let columns = 0

/** The comparison of one prompt in this tab. */
export function comparisonOf(key: string): Comparison {
  const known = comparisons.get(key) ?? new Comparison()
  comparisons.set(key, known)
  return known
}

/** Whether a compared run of the prompt is active. */
export function isComparing(key: string): boolean {
  return comparisons.get(key)?.isActive ?? false
}

export class Comparison {
  #columns: readonly Column[] = []
  /** The arms that the address has had. Those that this page has written arrive after newer ones. */
  readonly #seen = new Set<string>()

  /** Empty if nothing is compared. The first one is what the others are compared with. */
  get columns(): readonly Column[] {
    return this.#columns
  }

  get isActive(): boolean {
    return this.#columns.some(({ session }) => session.isActive)
  }

  /**
   * Shows the arms of the page's address, with the answers of their runs.
   *
   * @returns the arms that the address should have
   */
  open(arms: readonly Arm[]): Arm[] {
    const asked = JSON.stringify(arms)
    if (arms.length > 0 && !this.#seen.has(asked)) {
      this.#set(
        arms.map((arm) => {
          const known = this.#columns.find(({ arm: { run } }) => run !== undefined && run === arm.run)
          const column = known ? { ...known, arm } : newColumn(arm)
          if (!known) void column.session.open(arm.run)
          return column
        }),
      )
    }
    // In the order of keys that the address gives back.
    const now = readArms(this.#columns.map(({ arm }) => arm)) ?? []
    this.#seen.add(asked).add(JSON.stringify(now))
    return now
  }

  /** Adds an arm with the settings of the last one. The first call makes two. */
  add(): void {
    const { version, overrides } = this.#columns.at(-1)?.arm ?? {}
    const arm: Arm = { ...(version && { version }), ...(overrides && { overrides }) }
    const added = this.#columns.length === 0 ? [newColumn(arm), newColumn(arm)] : [newColumn(arm)]
    this.#set([...this.#columns, ...added].slice(0, mostArms))
  }

  /** A single arm compares nothing, so the comparison ends with the last but one. */
  remove(id: number): void {
    const left = this.#columns.filter((column) => column.id !== id)
    this.#columns.find((column) => column.id === id)?.session.stop()
    if (left.length < 2) this.close()
    else this.#set(left)
  }

  close(): void {
    this.stop()
    this.#set([])
  }

  change(id: number, arm: Arm): void {
    this.#set(this.#columns.map((column) => (column.id === id ? { ...column, arm } : column)))
  }

  /** Saves once, then runs all arms with the same inputs. Does nothing while one of them is active. */
  run({ projectId, path, parameters, messages, ready }: RunRequest): void {
    if (this.isActive) return
    const saved = ready()
    // Arms of other versions do not need it.
    saved.catch(() => undefined)
    for (const { id, arm, session } of this.#columns) {
      const { version, overrides } = arm
      void session.runInBackground(async () => {
        const { uuid } = await stet.prompts.run(path, {
          projectId,
          versionUuid: version ?? (await saved).versionUuid,
          parameters,
          ...(messages.length > 0 && { messages: [...messages] }),
          ...(overrides && { overrides }),
          background: true,
        })
        const now = this.#columns.find((column) => column.id === id)
        if (now) this.change(id, { ...now.arm, run: uuid })
        return uuid
      })
    }
  }

  stop(): void {
    for (const { session } of this.#columns) session.stop()
  }

  #set(next: readonly Column[]): void {
    this.#columns = next
    announce()
  }
}

function newColumn(arm: Arm): Column {
  columns += 1
  return { id: columns, arm, session: new RunSession(null) }
}
