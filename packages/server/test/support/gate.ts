export interface Gate {
  opened: Promise<void>
  open(): void
}

/** A promise that a test resolves when it wants the other side to continue. */
export function gate(): Gate {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
