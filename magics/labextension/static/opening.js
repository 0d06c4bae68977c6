// Opens the program of a link in a new notebook, ready to run.  Nothing runs before its reader presses Run.

/** The source is below the line of the magic, so that whatever a link holds is read as a program: never as Python. */
export async function openProgram({ commands }, source) {
  // A reload opens what is there by then, not the link again.
  history.replaceState(history.state, "", location.pathname + location.search);
  const panel = await commands.execute("notebook:create-new", { kernelName: "python" });
  await panel.context.ready;
  const { sharedModel } = panel.content.model;
  sharedModel.cells[0].setSource("%load_ext tfrt_nb");
  sharedModel.insertCell(1, { cell_type: "code", source: `%%tfrt\n${source.trim()}` });
}
