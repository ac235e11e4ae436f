// SPDX-License-Identifier: Apache-2.0
// Volumes of bytes out of pictures, and the displacement between its nodes.

// The bytes of a packed volume, x fastest.
async function unpack(packed) {
  const [width, height, depth] = packed.size;
  const [tileWidth, tileHeight] = packed.tile;
  const perSheet = packed.columns * packed.rows;
  const bytes = new Uint8Array(width * height * depth);
  for (let n = 0; n < packed.sheets.length; ++n) {
    const image = new Image();
    image.src = packed.sheets[n];
    packed.sheets[n] = null;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
    for (let k = 0; k < perSheet && n * perSheet + k < depth; ++k) {
      const left = (k % packed.columns) * tileWidth;
      const top = Math.floor(k / packed.columns) * tileHeight;
      let to = (n * perSheet + k) * width * height;
      for (let y = 0; y < height; ++y) {
        let from = 4 * ((top + y) * canvas.width + left);
        for (let x = 0; x < width; ++x, from += 4) bytes[to++] = pixels[from];
      }
    }
  }
  return bytes;
}

// A volume whose voxels are blocks of `stride` voxels of the fixed image.
async function unpackVolume({ packed, stride }) {
  return { size: packed.size, stride, data: await unpack(packed) };
}

// The byte at a voxel of the fixed image.
function byteAt(volume, voxel) {
  const [x, y, z] = voxel.map((i, a) => Math.min(Math.floor(i / volume.stride[a]), volume.size[a] - 1));
  return volume.data[x + volume.size[0] * (y + volume.size[1] * z)];
}

// The displacement in mm along the image's axes: a function of a position in voxels that fills three numbers.
async function unpackField(field, size) {
  const all = await unpack(field.packed);
  const [nx, ny, nz] = field.nodes;
  const nodes = nx * ny * nz;
  const count = nodes * field.components;
  const values = new Float32Array(count);
  for (let n = 0; n < count; ++n) {
    const number = ((all[n] << 8 | all[count + n]) << 16) >> 16;
    values[n] = number === -32768 ? NaN : number * field.unit;
  }
  // The last node lies on the last voxel, and may be nearer to its neighbour than the others are.
  const weight = [0, 0, 0];
  const cell = [0, 0, 0];
  const steps = [1, nx, nx * ny];
  return (x, y, z, result) => {
    const position = [x, y, z];
    let corner = 0;
    for (let a = 0; a < 3; ++a) {
      const p = Math.min(Math.max(position[a], 0), size[a] - 1);
      const k = Math.max(0, Math.min(Math.floor(p / field.stride[a]), field.nodes[a] - 2));
      const first = k * field.stride[a];
      const last = Math.min(first + field.stride[a], size[a] - 1);
      cell[a] = field.nodes[a] > 1 ? steps[a] : 0;
      weight[a] = last > first ? (p - first) / (last - first) : 0;
      corner += k * steps[a];
    }
    for (let c = 0; c < 3; ++c) {
      if (c >= field.components) { result[c] = 0; continue; }
      let sum = 0;
      for (let m = 0; m < 8; ++m) {
        const w = (m & 1 ? weight[0] : 1 - weight[0]) * (m & 2 ? weight[1] : 1 - weight[1]) * (m & 4 ? weight[2] : 1 - weight[2]);
        if (w > 0) sum += w * values[c * nodes + corner + (m & 1 ? cell[0] : 0) + (m & 2 ? cell[1] : 0) + (m & 4 ? cell[2] : 0)];
      }
      result[c] = sum;
    }
    return result;
  };
}
