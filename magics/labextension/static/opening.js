// Opens a link's program in a new notebook, ready to run.  Nothing runs until the reader presses Run.

/** Put `source` below a %%tfrt line, so that the content of a link is always read as a program and never as Python. */
export async function openProgram({ commands, shell }, source) {
  // Without the link in the address, a reload shows the notebook and does not open the link again.
  history.replaceState(history.state, "", location.pathname + location.search);
  const panel = await commands.execute("notebook:create-new", { kernelName: "python" });
  await panel.context.ready;
  const { sharedModel } = panel.content.model;
  sharedModel.cells[0].setSource("%load_ext tfrt_nb");
  sharedModel.insertCell(1, { cell_type: "code", source: `%%tfrt\n${source.trim()}` });
  shell.activateById(panel.id); // a restored notebook may have come to the front meanwhile
}
