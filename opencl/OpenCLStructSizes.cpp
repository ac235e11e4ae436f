// SPDX-License-Identifier: Apache-2.0
#include "opencl/runtime/OpenCLStructSizes.h"

#include "engine/metric/samples/ControlGridPasses.h"
#include "engine/penalty/ControlPenaltyPasses.h"
#include "engine/registration/free_form/ControlSteps.h"
#include "engine/metric/histogram/CorrelationRatioPasses.h"
#include "engine/image/SummarizeImage.h"
#include "engine/field/FieldKernels.h"
#include "engine/field/StartKernels.h"
#include "engine/metric/histogram/JointHistogramPasses.h"
#include "engine/metric/samples/PreTransformPasses.h"
#include "engine/filter/LinePasses.h"
#include "engine/metric/histogram/MattesPasses.h"
#include "engine/metric/neighborhood/NeighborhoodPasses.h"
#include "engine/metric/pairs/PairPasses.h"
#include "engine/metric/histogram/PartialVolumePasses.h"
#include "engine/resample/ResamplePasses.h"
#include "engine/resample/WindowedKernels.h"
#include "engine/metric/SimilarityPasses.h"
#include "engine/transform/FieldVectorKernels.h"

#include "kernels/metric/samples/MovingVoxels.h"
#include "kernels/resample/Displacement.h"

#include <type_traits>

namespace gpureg
{

using namespace kernels;

namespace
{
template <typename T>
std::string
DefineSize(const char * name)
{
  static_assert(std::is_trivially_copyable<T>::value && std::is_standard_layout<T>::value, "kernels get it as bytes");
  return std::string("#define GPUREG_BYTES_OF_") + name + " " + std::to_string(sizeof(T)) + "\n";
}

// Calls DefineSize with a name, as a type and as text.
#define GPUREG_DEFINE_SIZE(name) DefineSize<name>(#name)
} // namespace

const std::string &
GetStructSizes()
{
  static const std::string & sizes = *new std::string(
    GPUREG_DEFINE_SIZE(AdamStep) + GPUREG_DEFINE_SIZE(ControlStep) + GPUREG_DEFINE_SIZE(PairInformation) +
    GPUREG_DEFINE_SIZE(BorderArguments) + GPUREG_DEFINE_SIZE(BoxCorrelation) + GPUREG_DEFINE_SIZE(CentreWalk) +
    GPUREG_DEFINE_SIZE(ChainPart) + GPUREG_DEFINE_SIZE(ClampArguments) + GPUREG_DEFINE_SIZE(ControlGridArguments) +
    GPUREG_DEFINE_SIZE(ControlPenaltyArguments) + GPUREG_DEFINE_SIZE(ControlTile) + GPUREG_DEFINE_SIZE(ControlWeights) +
    GPUREG_DEFINE_SIZE(ConvolutionArguments) + GPUREG_DEFINE_SIZE(CorrelationRatioArguments) +
    GPUREG_DEFINE_SIZE(CorrelationRatioSums) + GPUREG_DEFINE_SIZE(DisplacementArguments) +
    GPUREG_DEFINE_SIZE(FieldCorners) + GPUREG_DEFINE_SIZE(FieldGrid) + GPUREG_DEFINE_SIZE(FieldBlock) +
    GPUREG_DEFINE_SIZE(SampleForceTurn) + GPUREG_DEFINE_SIZE(FieldResampling) + GPUREG_DEFINE_SIZE(FieldSmoothing) +
    GPUREG_DEFINE_SIZE(FieldStart) + GPUREG_DEFINE_SIZE(FieldWarp) + GPUREG_DEFINE_SIZE(FieldWeights) +
    GPUREG_DEFINE_SIZE(FixedMap) + GPUREG_DEFINE_SIZE(FloatAndRest) + GPUREG_DEFINE_SIZE(AdjointArguments) +
    GPUREG_DEFINE_SIZE(GradientColumn) + GPUREG_DEFINE_SIZE(GridInterpolationArguments) +
    GPUREG_DEFINE_SIZE(GridPlace) + GPUREG_DEFINE_SIZE(HistogramArguments) + GPUREG_DEFINE_SIZE(ImageSampling) +
    GPUREG_DEFINE_SIZE(InversionRule) + GPUREG_DEFINE_SIZE(InversionState) + GPUREG_DEFINE_SIZE(JointDensityArguments) +
    GPUREG_DEFINE_SIZE(JointHistogramArguments) + GPUREG_DEFINE_SIZE(JointHistogramSummaryArguments) +
    GPUREG_DEFINE_SIZE(LabelWindow) + GPUREG_DEFINE_SIZE(LaneWalk) + GPUREG_DEFINE_SIZE(LinearCell) +
    GPUREG_DEFINE_SIZE(LocalCorrelation) + GPUREG_DEFINE_SIZE(LongestVector) + GPUREG_DEFINE_SIZE(MattesArguments) +
    GPUREG_DEFINE_SIZE(NearestVoxel) + GPUREG_DEFINE_SIZE(NeighborhoodArguments) +
    GPUREG_DEFINE_SIZE(NeighborhoodSums) + GPUREG_DEFINE_SIZE(NewtonRule) + GPUREG_DEFINE_SIZE(NodesOfPoint) +
    GPUREG_DEFINE_SIZE(PairArguments) + GPUREG_DEFINE_SIZE(PairCentring) + GPUREG_DEFINE_SIZE(PartialVolumeArguments) +
    GPUREG_DEFINE_SIZE(PreTransformArguments) + GPUREG_DEFINE_SIZE(PreTransformCarry) +
    GPUREG_DEFINE_SIZE(FixedPointCell) + GPUREG_DEFINE_SIZE(RecursionArguments) + GPUREG_DEFINE_SIZE(Refinement) +
    GPUREG_DEFINE_SIZE(ResampleArguments) + GPUREG_DEFINE_SIZE(ResampleCut) + GPUREG_DEFINE_SIZE(SampleArguments) +
    GPUREG_DEFINE_SIZE(SampleCells) + GPUREG_DEFINE_SIZE(SampleMaps) + GPUREG_DEFINE_SIZE(SampleMoves) +
    GPUREG_DEFINE_SIZE(SimilaritySums) + GPUREG_DEFINE_SIZE(RunningSums) + GPUREG_DEFINE_SIZE(WindowSums) +
    GPUREG_DEFINE_SIZE(WindowedArguments) + GPUREG_DEFINE_SIZE(WindowedTaps) + GPUREG_DEFINE_SIZE(Strips) +
    GPUREG_DEFINE_SIZE(SumWalk) + GPUREG_DEFINE_SIZE(TileShape) + GPUREG_DEFINE_SIZE(ValuePair) +
    GPUREG_DEFINE_SIZE(VolumeShape) + GPUREG_DEFINE_SIZE(Workload) + GPUREG_DEFINE_SIZE(FieldPacking));
  return sizes;
}

} // namespace gpureg
