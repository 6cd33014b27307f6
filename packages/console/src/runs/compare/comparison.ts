/** Several runs of a prompt with the same inputs. They outlive the pane that shows them, as its own run does. */
import { noticeSignedOut, stet } from '../../app/session.ts'
import { type RunRequest, RunSession, recall } from '../session/run-session.ts'
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
  return recall(comparisons, key, () => new Comparison())
}

/** Whether a compared run of the prompt is active. */
export function isComparing(key: string): boolean {
  return comparisons.get(key)?.isActive ?? false
}

export class Comparison {
  #columns: readonly Column[] = []
  /** The address that came last. */
  #address = { arms: '[]', run: '' }
  /** Arms for the address that have not come back yet. They do so after newer ones are shown. */
  #written: string[] = []

  /** Empty if nothing is compared. The first one is what the others are compared with. */
  get columns(): readonly Column[] {
    return this.#columns
  }

  get isActive(): boolean {
    return this.#columns.some(({ session }) => session.isActive)
  }

  /**
   * Shows the arms of the page's address, with the answers of their runs. An address that comes with a run alone asks
   * for that run, so the comparison is shown no more.
   *
   * @returns the arms that the address should have
   */
  open(arms: readonly Arm[], run = ''): Arm[] {
    const before = this.#address
    const asked = JSON.stringify(arms)
    this.#address = { arms: asked, run }
    const place = asked === before.arms ? -1 : this.#written.indexOf(asked)
    if (place >= 0) this.#written = this.#written.slice(place + 1)
    else if (arms.length > 0 && asked !== before.arms) this.#show(arms)
    else if (arms.length === 0 && run && (asked !== before.arms || run !== before.run)) this.#set([])
    // In the order of keys that the address gives back.
    const now = readArms(this.#columns.map(({ arm }) => arm)) ?? []
    const wanted = JSON.stringify(now)
    if (wanted !== asked && !this.#written.includes(wanted)) this.#written.push(wanted)
    return now
  }

  #show(arms: readonly Arm[]): void {
    this.#set(
      arms.map((arm) => {
        const known = this.#columns.find(({ arm: { run } }) => run !== undefined && run === arm.run)
        const column = known ? { ...known, arm } : newColumn(arm)
        if (!known) void column.session.open(arm.run)
        return column
      }),
    )
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

  /** Takes back that columns were removed. What has changed since stays. */
  restore(before: readonly Column[]): void {
    const now = this.#columns
    const former = before.map((column) => now.find(({ id }) => id === column.id) ?? column)
    const added = now.filter(({ id }) => !before.some((column) => column.id === id))
    this.#set([...former, ...added].slice(0, mostArms))
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
    this.#set(this.#columns.map(({ arm: { run: _, ...arm }, ...column }) => ({ ...column, arm })))
    for (const { id, arm, session } of this.#columns) {
      const { version, overrides } = arm
      const start = async () => {
        const { uuid } = await stet.prompts.run(path, {
          projectId,
          versionUuid: version ?? (await saved).versionUuid,
          parameters,
          ...(messages.length > 0 && { messages: [...messages] }),
          ...(overrides && { overrides }),
          background: true,
        })
        return uuid
      }
      void session.runInBackground(start, (uuid) => void this.#nameRun(id, uuid).catch(noticeSignedOut))
    }
  }

  /** The latest run of a conversation may be another one later. */
  async #nameRun(id: number, conversationUuid: string): Promise<void> {
    const { uuid: run } = await stet.runs.get(conversationUuid)
    const now = this.#columns.find((column) => column.id === id)
    if (now?.session.conversationUuid === conversationUuid) this.change(id, { ...now.arm, run })
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
