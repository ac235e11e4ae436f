// SPDX-License-Identifier: Apache-2.0
// Unpacks what the page holds, and shows it.
(async () => {
  const failed = (error) => {
    const message = document.getElementById("failure");
    message.textContent = `This browser could not show the images: ${error.message ?? error}`;
    message.hidden = false;
    console.error(error);
  };
  document.getElementById("copy")?.addEventListener("click", async (event) => {
    const command = document.getElementById("command");
    const button = event.currentTarget;
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
    } catch {
      // Then it is marked, to be copied by hand.
      getSelection().selectAllChildren(command);
      button.textContent = "Marked";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  try {
    const data = JSON.parse(document.getElementById("data").textContent);
    showHistograms(data);
    showCosts(data);
    const viewer = new Viewer(data);
    await viewer.load();
    viewer.build();
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    failed(error);
  }
})();
