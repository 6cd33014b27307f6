/** Which of the first steps a prompt's newest runs prove. Pure. */
interface KnownRun {
  via: string
  status: string
}

/** A run of this page counts as soon as it has begun. A call may still fail, so it counts when it is over. */
export function hasRun(runs: readonly KnownRun[]): boolean {
  return runs.some(worked)
}

/** Whether a program has run the prompt. */
export function isCalled(runs: readonly KnownRun[]): boolean {
  return runs.some((run) => run.via === 'api' && worked(run))
}

function worked({ via, status }: KnownRun): boolean {
  return via === 'api' ? status === 'completed' : status !== 'error'
}
